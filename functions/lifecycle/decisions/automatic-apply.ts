import type { Granted } from '#api/permissions/granted.ts';
import type { ConfigurationVersion } from '#resources/configurations/records.ts';
import { recordRunEvent } from '#resources/runs/events.ts';
import { getRun, updateRun } from '#resources/runs/records.ts';
import { grantsOfUser } from '#resources/teams/access/grants.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { passesConfirmation } from '#run/lifecycle.ts';
import { isUser, type Run } from '#run/run.ts';

/**
 * A run may be applied without a confirmation only if all its authors may confirm it: the users who
 * determine what it applies, which are its creator and the uploader of its configuration. The creator does not count for a
 * run from a run trigger: the managers of the workspace decided that with its setting auto-apply-run-trigger
 * (HCP Terraform: run states, automatic apply; run triggers). A commit of the repository that a workspace follows has
 * no author here: the user who connected the workspace decided that with its setting auto-apply. In the same way, the user who
 * set the time at which a workspace is destroyed decided that.
 */
export const authorsOf = (
  createdBy: string,
  version: Pick<ConfigurationVersion, 'createdBy'>,
  trigger: Run['trigger'],
): string[] => [...new Set([...(trigger ? [] : [createdBy]), version.createdBy])].filter(isUser);

/**
 * @param known permissions of some authors that the caller has already read. At most 4 reads for each of the
 * others.
 */
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
 * Checks the authors of a run once more where it would pass its confirmation, and after the run tasks that follow: one of
 * them may have lost the permission since the run was created. Must be called before what leads there is recorded or
 * answered. May be repeated. No read for any other run.
 *
 * @param run with what is about to be recorded
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
