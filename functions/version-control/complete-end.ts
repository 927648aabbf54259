import { leavePool } from '../agent-pools/uses.ts';
import { keys } from '../store/keys.ts';
import { remove } from '../store/table.ts';
import { endLinks } from './account-links.ts';
import { getEndedClient, getEndedToken } from './connections.ts';
import { disconnect } from './end.ts';
import { getEndedInstallation, removeInstallation } from './github-app/installations.ts';
import { leave, listUses } from './repositories.ts';
import { settleRepository } from './webhooks.ts';

/** Completes the deletion of a connection. */

/** False while a webhook could not be deleted yet: the record of its repository then stays. */
const endUses = async (clientId: string): Promise<boolean> => {
  const uses = await listUses(clientId);
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
  if (token?.deletedAt && (await endUses(token.clientId))) await remove(keys.oauthToken(id));
};
