import type { Resource } from '#clients/client/client.ts';
import { displayStatus } from '#run/display.ts';
import { type StageState, stagesOf } from '#run/stages.ts';
import { Duration } from './basics.tsx';
import { factsOf } from './status.tsx';

const marks: Record<StageState, string> = { done: '✓', current: '', failed: '✕', stopped: '–', ahead: '', skipped: '' };

const words: Record<StageState, string> = {
  done: 'done',
  current: 'in progress',
  failed: 'failed',
  stopped: 'stopped',
  ahead: 'not started',
  skipped: 'not reached',
};

/** Progress line of a run's stages, with their durations. */
export const Stages = ({ run }: { run: Resource<'runs'> }) => {
  const facts = factsOf(run);
  const { tone } = displayStatus(facts);
  return (
    <ol class="panel stages" aria-label="Stages">
      {stagesOf(facts).map(({ name, state, from, to }) => (
        <li
          key={name}
          class={`stage ${state} ${state === 'current' ? tone : ''}`}
          aria-current={state === 'current' ? 'step' : undefined}
        >
          <span class="mark" aria-hidden="true">
            {marks[state]}
          </span>
          <div class="name">{name}</div>
          <div class="took">
            <span class="visually-hidden">{words[state]}, </span>
            {from ? <Duration from={from} to={to} /> : state === 'skipped' ? 'not reached' : '—'}
          </div>
        </li>
      ))}
    </ol>
  );
};
