import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { awaitedPool, awaitsRunner, since } from '#clients/client/run-facts.ts';
import { lazily, WaitingPart } from '#clients/web/lazily.tsx';
import { hash } from '#clients/web/location.ts';
import { Duration, Notice } from '#clients/web/parts/basics.tsx';
import { Changes } from '#clients/web/parts/changes.tsx';
import { Switch } from '#clients/web/parts/filters.tsx';
import { Log } from '#clients/web/parts/log.tsx';
import { Fold } from '#clients/web/parts/section.tsx';
import { comparedWith } from '#clients/web/plans.ts';
import { isPhaseFinal, type PhaseStatus } from '#run/status.ts';

const titles = { plan: 'Plan', apply: 'Apply' };

const words: Record<string, string> = {
  pending: 'not started',
  queued: 'waiting for a runner',
  agent_queued: 'waiting for an agent',
  running: 'running',
  finished: 'finished',
  errored: 'failed',
  canceled: 'canceled',
  unreachable: 'not reached',
};

interface PhaseProps {
  name: 'plan' | 'apply';
  run: Resource<'runs'>;
  phase: Resource<'plans'> | Resource<'applies'> | undefined;
  /** Terraform has finished. */
  onEnd(): void;
}

/** A plan or apply with its output: open while it runs or when it failed, else folded. */
export const Phase = ({ name, run, phase, onEnd }: PhaseProps) => {
  const chosen = useSignal<boolean | undefined>(undefined);
  const linked = hash.value.text.startsWith(`#${name}-`) || (name === 'plan' && hash.value.text.startsWith('#change-'));
  useEffect(() => {
    // Also for a phase that the user has folded.
    if (linked) chosen.value = undefined;
  }, [hash.value]);
  if (!phase) return null;
  const { status, 'log-read-url': url, 'status-timestamps': at, 'error-message': message } = phase.attributes;
  const pool = awaitedPool(phase);
  const agent = phase.attributes['execution-details']?.['agent-name'];
  const over = isPhaseFinal(status === 'agent_queued' ? 'queued' : (status as PhaseStatus));
  const began = at['started-at'] as string | undefined;
  const ended = (at['finished-at'] ?? at['errored-at'] ?? at['canceled-at']) as string | undefined;
  const isConfirmable = name === 'plan' && run.attributes.actions['is-confirmable'];
  return (
    <Fold
      title={titles[name]}
      status={
        <>
          {pool ? `waiting for an agent in pool ${pool.name}` : (words[status] ?? status)}
          {awaitsRunner(phase) && (
            <>
              {' · '}
              <Duration from={since(run)} />
            </>
          )}
          {agent && ` · agent ${agent}`}
          {began && (
            <>
              {' · '}
              <Duration from={began} to={ended} />
            </>
          )}
        </>
      }
      summary={over && <Changes of={phase} />}
      open={status === 'running' || status === 'errored' || isConfirmable || linked}
      chosen={chosen}
      unfolds={began !== undefined || (over && status !== 'unreachable')}
    >
      {() => (
        <>
          {message && status === 'errored' && message !== run.attributes['end-reason'] && (
            <div class="pad">
              <Notice kind="bad">{message}</Notice>
            </div>
          )}
          {name === 'plan' && status === 'finished' ? (
            <PlanResult run={run} plan={phase} url={url} />
          ) : (
            <Log name={name} url={url} run={run} over={over} failed={status === 'errored'} onEnd={onEnd} />
          )}
        </>
      )}
    </Fold>
  );
};

const planViews = ['Changes', 'Graph', 'Output', 'Compare'] as const;

const plan = () => import('#clients/web/groups/plan.ts');
// While the run is loaded, which it does not wait for.
plan().catch(() => {});
const PlanChanges = lazily(plan, (group) => group.PlanChanges, WaitingPart);
const PlanComparison = lazily(plan, (group) => group.PlanComparison, WaitingPart);
const PlanGraph = lazily(plan, (group) => group.PlanGraph, WaitingPart);

const firstView = (): (typeof planViews)[number] => {
  if (hash.value.text.startsWith('#plan-')) return 'Output';
  return new URLSearchParams(location.search).has(comparedWith) ? 'Compare' : 'Changes';
};

/** A finished plan shows its changes first; a link to a log line opens the output. */
const PlanResult = ({ run, plan, url }: { run: Resource<'runs'>; plan: { id: string }; url: string }) => {
  const view = useSignal(firstView());
  useEffect(() => {
    if (hash.value.text.startsWith('#plan-')) view.value = 'Output';
    if (hash.value.text.startsWith('#change-')) view.value = 'Changes';
  }, [hash.value]);
  return (
    <>
      <Switch label="Show the plan as" options={planViews} chosen={view} />
      {view.value === 'Output' && <Log name="plan" url={url} run={run} over />}
      {view.value === 'Changes' && <PlanChanges plan={plan} />}
      {view.value === 'Graph' && <PlanGraph plan={plan} />}
      {view.value === 'Compare' && <PlanComparison run={run} plan={plan} />}
    </>
  );
};
