import { isFinalRun, type Resource } from '#clients/client/client.ts';
import { factsOf, failedFragment } from '#clients/client/run-facts.ts';
import { displayStatus } from '#run/display.ts';

export { isFinalRun as isOver } from '#clients/client/client.ts';
export { factsOf, kindOf, since, sourceOf } from '#clients/client/run-facts.ts';

/** @param failed fragment of the part of this view that shows what failed */
export const Status = ({ run, failed }: { run: Resource<'runs'>; failed?: string | undefined }) => {
  const { name, tone } = displayStatus(factsOf(run));
  const look = { class: `status ${tone}`, title: name };
  return failed ? (
    <a {...look} href={`#${failed}`}>
      <span>{name}</span>
    </a>
  ) : (
    <span {...look}>
      <span>{name}</span>
    </span>
  );
};

/** Fragment of a link to a failed run; empty for other runs. */
export const failedIn = ({ attributes }: Resource<'runs'>): string =>
  attributes.status === 'errored' ? `#${failedFragment}` : '';

const problemOf = ({ attributes }: Resource<'runs'>): string | null | undefined => {
  if (attributes.status === 'errored') return attributes['end-reason'];
  const [check] = attributes['failed-checks'];
  return check && `${check.address}: ${check.message}`;
};

/** Why a run failed, or the first check that failed in it, in one line of a list; nothing for other runs. */
export const FailureReason = ({ run }: { run: Resource<'runs'> }) => {
  const reason = problemOf(run);
  return reason ? (
    <span class="one-line failure" title={reason}>
      {reason}
    </span>
  ) : null;
};

/** Poll interval of a run; undefined when it can no longer change. */
export const pollIntervalOf = (run: Resource<'runs'>, ms = 750): number | undefined =>
  isFinalRun(run) ? undefined : ms;
