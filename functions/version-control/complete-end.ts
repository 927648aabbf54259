import { leavePool } from '../agent-pools/uses.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet, remove } from '../store/table.ts';
import { endLinks } from './account-links.ts';
import { getEndedClient, getEndedToken } from './connections.ts';
import { disconnect } from './end.ts';
import { getEndedInstallation, removeInstallation } from './github-app/installations.ts';
import { type FollowedRepository, leave, listUses } from './repositories.ts';
import { settleRepository } from './webhooks.ts';

/** Completes the deletion of a connection. */

/** A connection may have another token by now, whose followers stay. A repository without a record has no webhook. */
const usesOf = async (clientId: string, tokenId: string | undefined) => {
  const uses = await listUses(clientId);
  if (tokenId === undefined) return uses;
  const ids = [...new Set(uses.map(({ repository }) => repository))];
  const found = await batchGet<FollowedRepository & Key>(ids.map(keys.repository));
  const others = new Set(found.filter((one) => one.tokenId !== tokenId).map(({ id }) => id));
  return uses.filter(({ repository }) => !others.has(repository));
};

/**
 * False while a webhook could not be deleted yet: the record of its repository then stays.
 * @param tokenId only what is connected by this token
 */
const endUses = async (clientId: string, tokenId?: string): Promise<boolean> => {
  const uses = await usesOf(clientId, tokenId);
  for (const { follower, repository } of uses) {
    await disconnect(follower, repository);
    await leave(repository, follower);
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
  await endLinks(id);
  if (client.tokenId) await remove(keys.oauthToken(client.tokenId));
  if (client.agentPoolId) await leavePool(client.agentPoolId, id);
  await remove(keys.organizationOauthClient(client.organization, client.createdAt, id));
  await remove(keys.oauthClient(id));
};

/** For an installation that was unlinked. May be repeated. */
export const completeInstallationEnd = async (id: string): Promise<void> => {
  const installation = await getEndedInstallation(id);
  if (installation?.deletedAt && (await endUses(id))) await removeInstallation(installation);
};

/** May be repeated. */
export const completeTokenEnd = async (id: string): Promise<void> => {
  const token = await getEndedToken(id);
  if (token?.deletedAt && (await endUses(token.clientId, id))) await remove(keys.oauthToken(id));
};
