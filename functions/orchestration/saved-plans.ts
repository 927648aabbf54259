import { adoptConfigurationVersion } from '../configurations/records.ts';
import type { Run } from '../run/run.ts';
import { recordRunEvent } from '../runs/events.ts';
import { getRun, updateRun } from '../runs/records.ts';
import { checkIn } from '../store/due.ts';
import { keys } from '../store/keys.ts';
import { update } from '../store/table.ts';
import type { Workspace } from '../workspaces/records.ts';
import { deliver } from './execution.ts';

/**
 * Saved plans are good for the state that they were made from, and for no other. The workspace's item
 * names those that may still be applied, so that whoever gives it a new state knows them without looking:
 *
 * - A run notes the state that its runner was given, when the runner claims the plan.
 * - Once its plan is saved it enters its name, and reads the state in the same write: one that is newer discards it.
 * - Any newer state found later is the work of somebody who finds the name.
 */

const noState = '';

const basisOf = ({ state }: Pick<Workspace, 'state'>): string => state?.id ?? noState;

/** What the plan is made from. 1 write, of runs that save their plans. */
export const recordPlanBasis = async (run: Run, workspace: Workspace): Promise<void> => {
  if (run.savePlan) await updateRun(run.id, { set: { 'plan.basis': basisOf(workspace) } });
};

export const isStale = ({ savePlan, plan, current }: Run, workspace: Workspace): boolean =>
  savePlan && !current && plan.basis !== undefined && plan.basis !== basisOf(workspace);

/** Enters a run whose plan was saved. May be repeated. */
export const keepSavedPlan = async (run: Run): Promise<void> => {
  const workspace = await update<Workspace>(keys.workspace(run.workspaceId), {
    add: { savedPlans: new Set([run.id]) },
    condition: 'attribute_exists(pk)',
  });
  if (workspace && isStale(run, workspace)) await discardStale(run.id);
};

/** The run is over: it takes its name out, and what it applied is the workspace's configuration from now on. */
export const leaveSavedPlans = async (run: Run, { applied }: { applied: boolean }): Promise<void> => {
  await forget(run.workspaceId, [run.id]);
  if (applied) await adoptConfigurationVersion(run.configurationVersionId);
};

const forget = (workspaceId: string, runIds: string[]) =>
  update(keys.workspace(workspaceId), {
    delete: { savedPlans: new Set(runIds) },
    condition: 'attribute_exists(savedPlans)',
  });

/** At once; a workspace can have any number. */
const atOnce = 20;

/**
 * Discards the plans made from an older state, on behalf of the platform. May be repeated.
 * @param workspace as it is since it has its new state
 * @param writer the run whose state that is
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

/** Also one that was confirmed and waits for its turn; not one whose turn has come. */
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
  // The first try may have died between its write and this.
  if (run?.decision?.action === 'discard') await deliver(run);
};
