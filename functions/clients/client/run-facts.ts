import { runActionNames, runActions } from '#run/actions.ts';
import type { StatusFacts } from '#run/display.ts';
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

/** Name of the agent pool that a plan or an apply waits for. */
export const awaitedPool = (phase: Resource<'plans'> | Resource<'applies'> | undefined): string | undefined => {
  const { status, 'execution-details': details } = phase?.attributes ?? {};
  return status === 'queued' || status === 'agent_queued' ? details?.['agent-pool-name'] : undefined;
};

/** Whether a plan or an apply waits for a runner of the platform. */
export const awaitsRunner = (phase: Resource<'plans'> | Resource<'applies'> | undefined): boolean =>
  phase?.attributes.status === 'queued' && awaitedPool(phase) === undefined;

/** Policies failed and can be overridden. */
export const waitsForOverride = ({ attributes }: Resource<'runs'>): boolean =>
  statuses[attributes.status as RunStatus]?.overrides != null;

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
