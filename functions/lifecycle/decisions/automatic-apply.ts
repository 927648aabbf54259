import type { Granted } from '#api/permissions/granted.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { passesConfirmation } from '#run/lifecycle.ts';
import { isUser, type Run } from '#run/run.ts';

/**
 * A run may be applied without a confirmation only if all its authors may confirm it: its creator and the uploader of
 * its configuration, who determine the changes. Three kinds of runs were authorized in advance and have fewer authors:
 *
 * - A run from a run trigger: without its creator, because the managers of the workspace set auto-apply-run-trigger
 *   (HCP Terraform: run states, automatic apply; run triggers).
 * - A run for a commit of the followed repository: no author, because the user who connected the workspace set
 *   auto-apply.
 * - A scheduled destroy: no creator, because a user set its time.
 */
export const authorsOf = (
  createdBy: string,
  version: Pick<ConfigurationVersion, 'createdBy'>,
  trigger: Run['trigger'],
): string[] => [...new Set([...(trigger ? [] : [createdBy]), version.createdBy])].filter(isUser);

/** @param alreadyRead permissions of some authors, by user id. At most 4 reads for each other author. */
export const mayAllApply = async (
  userIds: readonly string[],
  { organization, workspace }: { organization: string; workspace: Workspace | string },
  alreadyRead: Record<string, Granted> = {},
): Promise<boolean> => {
  const granted = await Promise.all(
    userIds.map((id) => alreadyRead[id] ?? grantsOfUser(id).on({ organization, workspace })),
  );
  return granted.every((one) => one.has('run:apply'));
};

const reason =
  'Not applied automatically: the author of this run or of its configuration no longer has permission to apply runs in this workspace. Confirm it as a user with that permission.';

/**
 * Checks the permissions of the run's authors again when the run is about to continue without a confirmation, and after
 * the run tasks that follow, because an author may have lost the permission since the run was created. Call it before
 * the state machine learns the result of the preceding step. Idempotent. No reads for other runs.
 *
 * @param run including the changes that are about to be recorded
 */
export const recheckAutomaticApply = async (run: Run): Promise<Run> => {
  const { id, organization, workspaceId, appliesFor } = run;
  if (!appliesFor || !passesConfirmation(run)) return run;
  if (await mayAllApply(appliesFor, { organization, workspace: workspaceId })) return run;
  const withdrawn = await updateRun(id, {
    set: { autoApply: false },
    remove: ['appliesFor'],
    condition: 'attribute_exists(appliesFor)',
  });
  if (withdrawn) await recordRunEvent(run, 'auto_apply_withdrawn', undefined, undefined, undefined, reason);
  return withdrawn ?? (await getRun(id)) ?? run;
};
