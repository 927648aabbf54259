import type { Checks } from '../run/checks.ts';
import { freezePolicies } from './run-policies.ts';
import { freezeTaskStages } from './task-stages.ts';
import type { Workspace } from './workspaces.ts';

/** What a run that is about to be created will pass, fixed with it. Undefined when that is nothing. */
export const freezeChecks = async (
  workspace: Workspace,
  { id, planOnly, fetching }: { id: string; planOnly: boolean; fetching: boolean },
): Promise<Checks | undefined> => {
  const { id: workspaceId, organization } = workspace;
  const [{ stages }, policies] = await Promise.all([
    freezeTaskStages({ runId: id, organization, workspaceId, planOnly }),
    freezePolicies(workspace, id),
  ]);
  const checks: Checks = {
    ...(fetching ? { fetching: true } : {}),
    ...(Object.keys(stages).length ? { tasks: stages } : {}),
    ...policies,
  };
  return Object.keys(checks).length ? checks : undefined;
};
