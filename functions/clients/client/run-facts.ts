import { runActionNames, runActions } from '#run/actions.ts';
import { erroredPhase, type StatusFacts } from '#run/display.ts';
import type { PhaseName } from '#run/run.ts';
import type { StageFacts } from '#run/stages.ts';
import { type RunAction, type RunStatus, statuses } from '#run/status.ts';
import { isFinalRun, type Resource, related } from './client.ts';

/** Facts about a run from the API's documents, for the page and the command line. */

/** Input of the decisions in `functions/run`, from the API's run document. */
export const factsOf = ({ attributes }: Resource<'runs'>): StatusFacts & StageFacts => ({
  status: attributes.status,
  confirmable: attributes.actions['is-confirmable'],
  autoApply: attributes['auto-apply'],
  planOnly: attributes['plan-only'],
  statusTimestamps: attributes['status-timestamps'],
  failedStep: attributes['failed-step'],
  hasChanges: attributes['has-changes'],
  awaitsSlot: attributes['awaits-slot'],
});

/** The API lists plan-only runs only when their operation is named. */
export const everyOperation = 'plan_and_apply,plan_only,refresh_only,destroy,empty_apply,save_plan';

/** A policy's message: a string, or the message of an object that has one. */
export const messageOf = (item: unknown): string => {
  if (typeof item === 'string') return item;
  const { msg } = (item ?? {}) as { msg?: unknown };
  return typeof msg === 'string' ? msg : JSON.stringify(item);
};

/** Time of the last status change. */
export const since = ({ attributes }: Resource<'runs'>): string =>
  Object.values(attributes['status-timestamps'] as Record<string, string>)
    .sort()
    .at(-1) ?? attributes['created-at'];

const kinds: Record<string, string> = {
  plan_only: 'plan only',
  save_plan: 'saved plan',
  destroy: 'destroy',
  refresh_only: 'refresh only',
  empty_apply: 'empty apply',
};

/** The kind of run; undefined for plan and apply. */
export const kindOf = ({ attributes: run }: Resource<'runs'>): string | undefined => {
  if (run['plan-only']) return run['is-destroy'] ? 'plan only, destroy' : kinds.plan_only;
  if (run['save-plan']) return kinds.save_plan;
  if (run['is-destroy']) return kinds.destroy;
  if (run['refresh-only']) return kinds.refresh_only;
  return run['allow-empty-apply'] ? kinds.empty_apply : undefined;
};

const sources: Record<string, string> = {
  'tfe-api': 'the API',
  'tfe-module': 'its module',
  'tfe-ui': 'the web page',
  'tfe-configuration-version': 'an uploaded configuration',
  'terraform+cloud': 'the command line',
  terraform: 'the command line',
  'tfe-infrastructure-lifecycle': 'its schedule',
};

/** How the run was created, as in "from the command line". */
export const sourceOf = ({ attributes }: Resource<'runs'>): string => {
  if (attributes['trigger-reason'] === 'vcs') return 'a commit';
  return attributes['source-name'] === 'stepform'
    ? 'the command line'
    : (sources[attributes.source] ?? attributes.source);
};

/**
 * Actions that the user may take now, from the status and permissions in the API's document.
 * @param front the run that this one waits for
 * @param override path to override failed policies
 */
export const offeredActions = (run: Resource<'runs'>, front?: Resource<'runs'>, override?: string): RunAction[] => {
  if (isFinalRun(run)) return [];
  const { actions, permissions } = run.attributes;
  const accepts = (action: RunAction): boolean => {
    if (action === 'override') return override !== undefined;
    if (action === 'force-execute') return front?.attributes.actions['is-discardable'] === true;
    return actions[runActions[action].flag];
  };
  return runActionNames.filter((action) => accepts(action) && permissions[runActions[action].can]);
};

/** The agent pool that a plan or an apply waits for. */
export const awaitedPool = (
  phase: Resource<'plans'> | Resource<'applies'> | undefined,
): { id: string; name: string } | undefined => {
  const { status, 'execution-details': details } = phase?.attributes ?? {};
  if (!details?.['agent-pool-id'] || (status !== 'queued' && status !== 'agent_queued')) return undefined;
  return { id: details['agent-pool-id'], name: details['agent-pool-name'] };
};

/** Whether a plan or an apply waits for a runner of the platform. */
export const awaitsRunner = (phase: Resource<'plans'> | Resource<'applies'> | undefined): boolean =>
  phase?.attributes.status === 'queued' && awaitedPool(phase) === undefined;

/** Why a run waits that could start if fewer runs planned or applied; undefined if it does not wait for that. */
export const slotWaitOf = ({ attributes }: Resource<'runs'>): string | undefined => {
  if (!attributes['awaits-slot']) return undefined;
  const ahead = attributes['position-in-queue'] ?? 0;
  const others = ahead === 1 ? '1 run of this organization is' : `${ahead} runs of this organization are`;
  return `for a runner to become free: the operator limits their number${ahead ? `, and ${others} ahead` : ''}`;
};

/** Policies failed and can be overridden. */
export const waitsForOverride = ({ attributes }: Resource<'runs'>): boolean =>
  statuses[attributes.status as RunStatus]?.overrides != null;

/** The phase in which Terraform failed; undefined if it did not, or another step failed. */
const failedPhase = ({ attributes }: Resource<'runs'>): PhaseName | undefined =>
  attributes.status === 'errored' && attributes['failed-step'] === null
    ? erroredPhase(attributes['status-timestamps'])
    : undefined;

export interface FailedPart {
  /** Its fragment in the address of the run's page. */
  id: string;
  /** Text of a link to it. */
  link: string;
}

/** Fragment with which the run's page shows what failed, without knowing which part that is. */
export const failedFragment = 'failed';

/** The part of a run's page that shows what failed; undefined if the end's reason is all there is. */
export const failedPart = (run: Resource<'runs'>, stages: Resource<'task-stages'>[]): FailedPart | undefined => {
  const phase = failedPhase(run);
  if (phase) return { id: `${phase}-error`, link: 'Show in the log' };
  const step = run.attributes['failed-step'] as string | null;
  const failed = stages.find(({ attributes }) => ['failed', 'errored'].includes(attributes.status));
  if (step?.startsWith('run task'))
    return failed && { id: tasksOf(failed.attributes.stage), link: 'Show the run task' };
  if (step !== 'policy check') return undefined;
  return { id: failed ? policyEvaluationPart : policyCheckPart, link: 'Show the policies' };
};

/** Fragments of parts of a run's page. */
export const policyEvaluationPart = 'policy-evaluation';
export const policyCheckPart = 'policy-check';
export const tasksOf = (stage: string): string => `tasks-${stage}`;

/** Waits for a decision that this user may make. */
export const mayDecide = (run: Resource<'runs'>): boolean => {
  const { actions, permissions } = run.attributes;
  return (
    (actions['is-confirmable'] && permissions['can-apply']) ||
    (waitsForOverride(run) && permissions['can-override-policy-check'])
  );
};

/** Path to override the policies that the run waits for; undefined while it does not wait for that. */
export const overrideOf = (run: Resource<'runs'>, stages: Resource<'task-stages'>[]): string | undefined => {
  if (!waitsForOverride(run)) return undefined;
  const stage = stages.find(({ attributes }) => attributes.actions['is-overridable']);
  if (statuses[run.attributes.status as RunStatus].overrides === 'policyCheck')
    return `/policy-checks/${related(run, 'policy-checks')}/actions/override`;
  return stage && `/task-stages/${stage.id}/actions/override`;
};
