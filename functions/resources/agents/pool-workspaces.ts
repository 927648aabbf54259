import { read, usesOf } from '../agent-pools/uses.ts';
import type { Workspace } from '../workspaces/records.ts';

/** Those whose runs its agents do. */
export const workspacesOfPool = async (id: string): Promise<Workspace[]> => {
  const users = await read((await usesOf(id)).filter(({ userId }) => userId.startsWith('ws-')));
  return users.filter(({ agentPoolId, deletedAt }) => agentPoolId === id && !deletedAt) as unknown as Workspace[];
};
