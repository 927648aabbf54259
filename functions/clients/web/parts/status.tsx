import { isFinalRun, type Resource } from '#clients/client/client.ts';
import { factsOf } from '#clients/client/run-facts.ts';
import { displayStatus } from '#run/display.ts';

export { isFinalRun as isOver } from '#clients/client/client.ts';
export { factsOf, kindOf, since, sourceOf } from '#clients/client/run-facts.ts';

export const Status = ({ run }: { run: Resource<'runs'> }) => {
  const { name, tone } = displayStatus(factsOf(run));
  return (
    <span class={`status ${tone}`} title={name}>
      <span>{name}</span>
    </span>
  );
};

/** Poll interval of a run; undefined when it can no longer change. */
export const pollIntervalOf = (run: Resource<'runs'>, ms = 750): number | undefined =>
  isFinalRun(run) ? undefined : ms;
