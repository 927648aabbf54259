import { ApiError, type Client, isFinalRun, type Resource, related } from '#clients/client/client.ts';

/** Maximum time that locking waits for a finished run to unlock the workspace, in ms. */
const patienceMs = 10_000;
const everyMs = 250;

const isAboutToBeFree = async (client: Client, workspaceId: string): Promise<boolean> => {
  const workspace = await client.get(`/workspaces/${workspaceId}`);
  const holder = related(workspace, 'locked-by');
  if (!workspace.attributes.locked || !holder) return true;
  return holder.startsWith('run-') && isFinalRun(await client.run(holder));
};

/** @throws {ApiError} 409 while the workspace is locked */
export const lockWorkspace = async (client: Client, workspaceId: string, reason: string): Promise<Resource> => {
  for (const deadline = Date.now() + patienceMs; ; ) {
    try {
      return (await client.call('POST', `/workspaces/${workspaceId}/actions/lock`, { reason })).data;
    } catch (error) {
      const isLocked = error instanceof ApiError && error.status === 409;
      if (!isLocked || Date.now() > deadline || !(await isAboutToBeFree(client, workspaceId))) throw error;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
};
