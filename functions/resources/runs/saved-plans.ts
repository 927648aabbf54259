import { checkIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { update, updateExisting } from '#platform/store/table.ts';
import { adoptConfigurationVersion } from '#resources/configurations/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Run } from '#run/run.ts';
import { recordRunEvent } from './events.ts';
import { deliver } from './execution.ts';
import { getRun, updateRun } from './records.ts';

/**
 * A saved plan is valid only for the state on which it is based. The workspace's item lists the saved plans that can
 * still be applied, so that a writer of a new state finds them without a query:
 * - When the runner claims the plan, the run stores the state that the runner received.
 * - Once its plan is saved, the run adds itself to the list and reads the current state in the same write: a newer
 * one discards the plan.
 * - A later writer of a newer state finds the run in the list and discards it.
 */

const noState = '';

const basisOf = ({ state }: Pick<Workspace, 'state'>): string => state?.id ?? noState;

/** Stores the state on which the plan is based. 1 write, only for runs that save their plans. */
export const recordPlanBasis = async (run: Run, workspace: Workspace): Promise<void> => {
  if (run.savePlan) await updateRun(run.id, { set: { 'plan.basis': basisOf(workspace) } });
};

export const isStale = ({ savePlan, plan, current }: Run, workspace: Workspace): boolean =>
  savePlan && !current && plan.basis !== undefined && plan.basis !== basisOf(workspace);

/** Adds a run with a saved plan to the list. Can be repeated. */
export const keepSavedPlan = async (run: Run): Promise<void> => {
  const workspace = await updateExisting<Workspace>(keys.workspace(run.workspaceId), {
    add: { savedPlans: new Set([run.id]) },
  });
  if (workspace && isStale(run, workspace)) await discardStale(run.id);
};

/** Removes an ended run from the list; an applied configuration becomes the workspace's current one. */
export const leaveSavedPlans = async (run: Run, { applied }: { applied: boolean }): Promise<void> => {
  await forget(run.workspaceId, [run.id]);
  if (applied) await adoptConfigurationVersion(run.configurationVersionId);
};

const forget = (workspaceId: string, runIds: string[]) =>
  update(keys.workspace(workspaceId), {
    delete: { savedPlans: new Set(runIds) },
    condition: 'attribute_exists(savedPlans)',
  });

/** Maximum of parallel discards: a workspace can have any number of saved plans. */
const atOnce = 20;

/**
 * Discards plans that are based on an older state, on behalf of the platform. Can be repeated.
 * @param workspace workspace with its new state
 * @param writer the run that wrote the state
 */
export const discardStalePlans = async (workspace: Workspace, writer: string | undefined): Promise<void> => {
  const ids = [...(workspace.savedPlans ?? [])].filter((id) => id !== writer);
  for (let i = 0; i < ids.length; i += atOnce) {
    const some = ids.slice(i, i + atOnce);
    await Promise.all(some.map(discardStale));
    await forget(workspace.id, some);
  }
};

const reason =
  'The workspace’s state has changed since this plan was saved, so it can no longer be applied. Plan again.';

/** Includes a confirmed run in the queue, but not the current run. */
export const discardStale = async (runId: string): Promise<void> => {
  const at = new Date().toISOString();
  const discarded = await updateRun(runId, {
    set: {
      decision: { action: 'discard', at, reason },
      ...checkIn(runId, 30),
    },
    condition:
      'attribute_not_exists(current) AND attribute_not_exists(cancel) AND (attribute_not_exists(decision) OR decision.#action = :apply)',
    names: { '#action': 'action' },
    values: { ':apply': 'apply' },
  });
  if (discarded) await recordRunEvent(discarded, 'discarded', undefined, undefined, at);
  const run = discarded ?? (await getRun(runId));
  // The first attempt may have been interrupted after its write, before this step.
  if (run?.decision?.action === 'discard') await deliver(run);
};
