import type { Organization } from '#resources/organizations/records.ts';
import { freezePolicies } from '#resources/policies/run-policies.ts';
import { freezeProviderSets } from '#resources/provider-sets/effective.ts';
import { freezeTaskStages } from '#resources/run-tasks/stages.ts';
import { organizationOfNewRun } from '#resources/workspaces/drain.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import type { Checks } from '#run/check-record.ts';
import { newCostEstimate } from '#run/cost-estimate.ts';
import { secondsIn } from '#run/limits.ts';
import type { Run } from '#run/run.ts';

/** Together with the workspace, these determine which checks a run has to pass. */
export interface NewRunFacts extends Pick<Run, 'planOnly' | 'targetAddrs'> {
  id: string;
  /** The workspace of the environment's template, whose policy sets and run tasks apply too. */
  templateWorkspaceId?: string | undefined;
  /** Its configuration version is not uploaded yet. */
  fetching: boolean;
}

/**
 * The checks, provider sets and time limits of a run that is about to be created, frozen with it. 1 read and 3 queries,
 * which are shared with the reads of variable sets, and no write if there are none.
 * @throws {DrainingError}
 */
export const freezeChecks = async (
  workspace: Workspace,
  { id, planOnly, targetAddrs, fetching, templateWorkspaceId }: NewRunFacts,
): Promise<Pick<Run, 'checks' | 'costEstimate' | 'timeLimits' | 'providerSetsKey' | 'organizationName'>> => {
  const { id: workspaceId, organization } = workspace;
  const [{ stages }, policies, home] = await Promise.all([
    freezeTaskStages({ runId: id, organization, workspaceId, templateWorkspaceId, planOnly }),
    freezePolicies(workspace, id, templateWorkspaceId),
    organizationOfNewRun(organization),
  ]);
  const checks: Checks = {
    ...(fetching ? { fetching: true } : {}),
    ...(Object.keys(stages).length ? { tasks: stages } : {}),
    ...policies,
  };
  return {
    ...(Object.keys(checks).length ? { checks } : {}),
    ...(home?.costEstimationEnabled
      ? { costEstimate: newCostEstimate({ targetAddrs }, new Date().toISOString()) }
      : {}),
    ...timeLimitsOf(home),
    ...(home?.shownName ? { organizationName: home.shownName } : {}),
    ...(await freezeProviderSets(home, workspace, id)),
  };
};

const timeLimitsOf = (organization: Organization | undefined): Pick<Run, 'timeLimits'> => {
  const { terraformBuildWorkerPlanTimeout: plan, terraformBuildWorkerApplyTimeout: apply } = organization ?? {};
  const timeLimits = { ...(plan ? { plan: secondsIn(plan) } : {}), ...(apply ? { apply: secondsIn(apply) } : {}) };
  return plan || apply ? { timeLimits } : {};
};
