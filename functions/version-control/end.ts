import { dueIn } from '../store/due.ts';
import { keys } from '../store/keys.ts';
import { remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import { getEndedClient, getEndedToken, type OauthClient, type OauthToken } from './connections.ts';
import { leave, listUses, settleRepository } from './repositories.ts';

/**
 * The end of a connection. One write marks it: from then on nobody can use it. The sweep has the rest done: its followers
 * are disconnected, webhooks deleted with the token while that is still there, then the records.
 */

export const endClient = async ({ id }: OauthClient): Promise<void> => {
  await update(keys.oauthClient(id), {
    set: { deletedAt: now(), ...dueIn(id, 0) },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
};

/** The client stays, and can be given another token. */
export const endToken = async ({ id, clientId }: OauthToken): Promise<void> => {
  await update(keys.oauthToken(id), {
    set: { deletedAt: now(), ...dueIn(id, 0) },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
  await update(keys.oauthClient(clientId), {
    remove: ['tokenId'],
    condition: 'tokenId = :id',
    values: { ':id': id },
  });
};

/** Only from that repository: it may be connected to another by now. */
export const disconnect = async (workspaceId: string, repository: string): Promise<void> => {
  await update(keys.workspace(workspaceId), {
    set: { updatedAt: now() },
    remove: ['vcsRepo', 'vcsFollows', 'vcsMoves'],
    condition: 'vcsRepo.repository = :repository',
    values: { ':repository': repository },
  });
};

/** False while a webhook could not be deleted yet: then what names its repository stays. */
const endUses = async (clientId: string): Promise<boolean> => {
  const uses = await listUses(clientId);
  for (const { workspaceId, repository } of uses) {
    await disconnect(workspaceId, repository);
    await leave(repository, workspaceId);
  }
  let done = true;
  for (const repository of new Set(uses.map((use) => use.repository))) {
    if (!(await settleRepository(repository))) done = false;
    else for (const { pk, sk } of uses.filter((use) => use.repository === repository)) await remove({ pk, sk });
  }
  return done;
};

/** May be repeated. */
export const completeClientEnd = async (id: string): Promise<void> => {
  const client = await getEndedClient(id);
  if (!client?.deletedAt || !(await endUses(id))) return;
  if (client.tokenId) await remove(keys.oauthToken(client.tokenId));
  await remove(keys.organizationOauthClient(client.organization, client.createdAt, id));
  await remove(keys.oauthClient(id));
};

/** May be repeated. */
export const completeTokenEnd = async (id: string): Promise<void> => {
  const token = await getEndedToken(id);
  if (token?.deletedAt && (await endUses(token.clientId))) await remove(keys.oauthToken(id));
};
