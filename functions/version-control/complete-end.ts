import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, remove } from '#platform/store/table.ts';
import { leavePool } from '#resources/agents/pools/uses.ts';
import { endLinks } from './account-links.ts';
import { getEndedClient, getEndedToken } from './connections.ts';
import { disconnect } from './end.ts';
import { getEndedInstallation, removeInstallation } from './github-app/installations.ts';
import { type FollowedRepository, leave, listRest, listUses } from './repositories.ts';
import { settleRepository } from './webhooks.ts';

/** Completes the deletion of a connection. */

interface Part extends Key {
  repository: string;
}

/** Leaves out repositories of the connection's other tokens, so that their followers stay connected. */
const partsOf = async <T extends Part>(parts: T[], tokenId: string | undefined): Promise<T[]> => {
  if (tokenId === undefined) return parts;
  const ids = [...new Set(parts.map(({ repository }) => repository))];
  const found = await batchGet<FollowedRepository & Key>(ids.map(keys.repository));
  const others = new Set(found.filter((one) => one.tokenId !== tokenId).map(({ id }) => id));
  // A repository without a record has no webhook.
  return parts.filter(({ repository }) => !others.has(repository));
};

/**
 * Disconnects all followers.
 * @param tokenId disconnects only followers connected with this token
 * @returns false if a webhook could not be deleted; the record of its repository then stays
 */
const endUses = async (clientId: string, tokenId?: string): Promise<boolean> => {
  const uses = await partsOf(await listUses(clientId), tokenId);
  for (const { follower, repository } of uses) {
    await disconnect(follower, repository);
    await leave(repository, follower);
  }
  const parts: Part[] = [...uses, ...(await partsOf(await listRest(clientId), tokenId))];
  let done = true;
  for (const id of new Set(parts.map(({ repository }) => repository))) {
    if (!(await settleRepository(id))) done = false;
    else for (const { pk, sk, repository } of parts) if (repository === id) await remove({ pk, sk });
  }
  return done;
};

/** Can be repeated. */
export const completeClientEnd = async (id: string): Promise<void> => {
  const client = await getEndedClient(id);
  if (!client?.deletedAt || !(await endUses(id))) return;
  await endLinks(id);
  if (client.tokenId) await remove(keys.oauthToken(client.tokenId));
  if (client.agentPoolId) await leavePool(client.agentPoolId, id);
  await remove(keys.organizationOauthClient(client.organization, client.createdAt, id));
  await remove(keys.oauthClient(id));
};

/** For an unlinked installation. Can be repeated. */
export const completeInstallationEnd = async (id: string): Promise<void> => {
  const installation = await getEndedInstallation(id);
  if (installation?.deletedAt && (await endUses(id))) await removeInstallation(installation);
};

/** Can be repeated. */
export const completeTokenEnd = async (id: string): Promise<void> => {
  const token = await getEndedToken(id);
  if (token?.deletedAt && (await endUses(token.clientId, id))) await remove(keys.oauthToken(id));
};
