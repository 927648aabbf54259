import { dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { updateRecord } from '#platform/store/records.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { OauthClient, OauthToken } from './connections.ts';
import { isModule, isPolicySet } from './repositories.ts';

/**
 * Deletion of a connection. One write marks it as unusable. The sweep does the rest: disconnects its followers,
 * deletes webhooks while the token exists, then the records.
 */

export const endClient = async ({ id }: OauthClient): Promise<void> => {
  await updateRecord(keys.oauthClient(id), { set: { deletedAt: now(), ...dueIn(id, 0) } });
};

/** Deletes the token only; the client can get another one. */
export const endToken = async ({ id, clientId }: OauthToken): Promise<void> => {
  await updateRecord(keys.oauthToken(id), { set: { deletedAt: now(), ...dueIn(id, 0) } });
  await update(keys.oauthClient(clientId), {
    remove: ['tokenId'],
    condition: 'tokenId = :id',
    values: { ':id': id },
  });
};

/** Disconnects only this repository, because the follower may have been connected to another one meanwhile. */
export const disconnect = async (follower: string, repository: string): Promise<void> => {
  const key = isPolicySet(follower) ? keys.policySet : isModule(follower) ? keys.module : keys.workspace;
  await update(key(follower), {
    set: { updatedAt: now() },
    remove: ['vcsRepo', 'vcsFollows', 'vcsMoves', 'vcsPull'],
    condition: 'vcsRepo.repository = :repository',
    values: { ':repository': repository },
  });
};
