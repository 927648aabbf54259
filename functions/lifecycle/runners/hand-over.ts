import { mayAllApply } from '#lifecycle/decisions/automatic-apply.ts';
import { type Claimed, newTokens, spent } from '#lifecycle/phases/phases.ts';
import { checkIn } from '#platform/store/due.ts';
import { hashSecret } from '#platform/store/id.ts';
import { now } from '#platform/store/time.ts';
import { statusChange, updateRun } from '#resources/runs/records.ts';
import { getWorkspace, type Workspace } from '#resources/workspaces/records.ts';
import { handsOver } from '#run/lifecycle.ts';
import { entryOf } from '#run/machine-states.ts';
import type { PhaseReport, Run } from '#run/run.ts';

export interface HandedOver extends Claimed {
  workspace: Workspace;
}

/**
 * Stores a plan's report and gives the apply to the same runner in one write, if the run needs no confirmation and no
 * other step comes first: the machine moves from Planning to Applying (decisions/0097). The caller resumes the
 * execution.
 *
 * @param planToken identifies the runner if it repeats the request
 * @returns undefined if this is not possible, or after a concurrent change; then nothing was written
 */
export const handOver = async (run: Run, report: PhaseReport, planToken: string): Promise<HandedOver | undefined> => {
  const reported = { ...run, plan: { ...run.plan, report } };
  if (!handsOver(reported)) return undefined;
  const { id, organization, workspaceId, appliesFor } = run;
  const workspace = await getWorkspace(workspaceId);
  // One of the run's authors may have lost the permission since the run was created.
  if (!workspace || (appliesFor && !(await mayAllApply(appliesFor, { organization, workspace })))) return undefined;
  const at = now();
  const { token, set } = newTokens(id, 'apply', hashSecret(planToken));
  const entry = entryOf('ApplyQueued', reported);
  const claimed = await updateRun(id, {
    set: {
      'plan.report': report,
      ...statusChange(entry, run, at),
      'apply.offeredAt': at,
      'apply.taskArn': run.plan.taskArn,
      ...set,
      ...checkIn(id, entry.lookAfterSeconds, run),
    },
    remove: spent.plan,
    condition: `status = :planning AND wait.state = :waiting AND plan.tokenHash = :mine
      AND attribute_not_exists(plan.report) AND attribute_not_exists(apply.claimNonce) AND attribute_not_exists(apply.claimHash)
      AND attribute_not_exists(cancel) AND attribute_not_exists(decision)`,
    values: { ':planning': 'planning', ':waiting': 'Planning', ':mine': hashSecret(planToken) },
  });
  return claimed && { run: claimed, phase: 'apply', token, workspace };
};
