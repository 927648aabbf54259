import type { Workspace } from '#resources/workspaces/records.ts';
import { read, usesOf } from './pools/uses.ts';

/** Workspaces whose runs the pool's agents carry out. */
export const workspacesOfPool = async (id: string): Promise<Workspace[]> => {
  const users = await read((await usesOf(id)).filter(({ userId }) => userId.startsWith('ws-')));
  return users.filter(({ agentPoolId, deletedAt }) => agentPoolId === id && !deletedAt) as unknown as Workspace[];
};
