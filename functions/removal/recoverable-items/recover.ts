import { conflict, unprocessable } from '#api/errors.ts';
import { dueAttributes } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { countNames } from '#platform/store/name-index.ts';
import { remove, update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { setDataRetention } from '#removal/retention/records.ts';
import { openRunsOf } from '#removal/workspaces.ts';
import { AgentPoolGoneError, usePool } from '#resources/agents/pools/uses.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { getProject } from '#resources/projects/records.ts';
import { resumeSshKey } from '#resources/ssh-keys/records.ts';
import { startHealthTimer } from '#resources/workspaces/health-timer.ts';
import { holdName, indexInProject, indexName } from '#resources/workspaces/names.ts';
import { getWorkspace, type Workspace, type WorkspaceChange } from '#resources/workspaces/records.ts';
import { serves } from '#version-control/connections.ts';
import { followsOf } from '#version-control/follows.ts';
import { checkConnection, chosen, followChoice } from '#version-control/repository-choice.ts';
import { attachAgain } from './attach-again.ts';
import type { Recoverable } from './records.ts';

/**
 * Recovers a deleted workspace with one conditional write. Steps before it have no effect on their own, and steps
 * after it can be repeated.
 */

/** The workspace's project, or the organization's default project if that was deleted. */
const homeOf = async ({ organization, projectId }: Recoverable): Promise<string> => {
  const project = await getProject(projectId);
  if (project?.organization === organization) return projectId;
  return (await getOrganization(organization))?.defaultProjectId ?? projectId;
};

type VcsChange = Pick<WorkspaceChange, 'vcsRepo' | 'vcsFollows' | 'vcsMoves'>;

/** Reconnects the workspace to its repository if the connection still has access; the next push starts runs. */
const followAgain = async ({ id, organization, vcsRepo }: Recoverable, projectId: string): Promise<VcsChange> => {
  if (!vcsRepo) return {};
  try {
    await checkConnection(vcsRepo, organization, (client) => serves(client, projectId), 'for this project');
    const { identifier, branch, ingressSubmodules, tagsRegex, oauthTokenId, installationId } = vcsRepo;
    const repository = { identifier, branch, ingressSubmodules, tagsRegex, oauthTokenId, installationId };
    const followed = await followChoice(await chosen(repository), id);
    return { vcsRepo: followed, vcsFollows: followsOf(followed), vcsMoves: 0 };
  } catch (error) {
    if ((error as Error).name === 'ApiError') return { vcsRepo: null, vcsFollows: '', vcsMoves: 0 };
    throw error;
  }
};

/** If the agent pool was deleted, the execution mode becomes local, so that no run starts until a user changes it. */
const poolAgain = async ({ id, agentPoolId }: Recoverable): Promise<WorkspaceChange> => {
  if (!agentPoolId) return {};
  try {
    await usePool(agentPoolId, id);
    return {};
  } catch (error) {
    if (error instanceof AgentPoolGoneError) {
      return { executionMode: 'local', agentPoolId: null, inheritsExecutionMode: false };
    }
    throw error;
  }
};

const marks = ['deletedAt', 'deletedBy', 'recoverableUntil', 'isDetached', 'attachments'];
/** Attributes of processes that the deletion interrupted. */
const dropped = ['autoDestroyStatus', 'vcsPull', 'assessing'];

/** Timers do nothing until their workspace exists. */
const startTimers = async ({ id, assessmentsEnabled, dataRetention }: Recoverable): Promise<void> => {
  if (assessmentsEnabled) await startHealthTimer(id);
  if (dataRetention) await setDataRetention({ workspace: id }, dataRetention);
};

/** @throws {ApiError} 409 or 422 */
export const recover = async (workspace: Recoverable): Promise<void> => {
  const { id, name, organization, tags, deletedAt } = workspace;
  if (!workspace.isDetached || (await openRunsOf(workspace)).length > 0) {
    throw conflict(`Workspace ${name} is still being deleted: its runs are being stopped. Try again in a minute.`);
  }
  const projectId = await homeOf(workspace);
  const entry = { workspaceId: id, projectId, tags };
  if (!(await holdName(organization, name, entry))) {
    throw unprocessable('/data', `Name has already been taken: rename the other workspace ${name} first.`);
  }
  await indexInProject(name, entry);
  await attachAgain(workspace);
  const pool = await poolAgain(workspace);
  const vcs = await followAgain(workspace, projectId);
  const lostKey = workspace.sshKeyId && !(await resumeSshKey(id, workspace.sshKeyId)) ? ['sshKeyId'] : [];
  await startTimers(workspace);
  const recovered = await update<Workspace>(keys.workspace(id), {
    set: {
      ...pool,
      ...vcs,
      projectId,
      // A time that passed meanwhile would destroy the workspace at once.
      autoDestroyAt: null,
      autoDestroyActivityDuration: null,
      inheritsAutoDestroy: false,
      updatedAt: now(),
      changedIn: organization,
    },
    remove: [...marks, ...dropped, ...lostKey, ...dueAttributes],
    condition: 'deletedAt = :seen AND attribute_not_exists(isEnding)',
    values: { ':seen': deletedAt },
  });
  // The write's response may have been lost, or another request has recovered the workspace.
  const after = recovered ?? (await getWorkspace(id));
  if (!after) throw conflict(`Workspace ${name} can no longer be recovered: it is being deleted for good.`);
  await indexName(organization, name, entry);
  await countNames(organization, 'workspace', 1);
  await remove(keys.recoverable(organization, id));
};
