import { dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { OauthClient, OauthToken } from './connections.ts';
import { isModule, isPolicySet } from './repositories.ts';

/**
 * Deletion of a connection. One write marks it as unusable. The sweep does the rest: disconnects its followers,
 * deletes webhooks while the token exists, then the records.
 */

export const endClient = async ({ id }: OauthClient): Promise<void> => {
  await update(keys.oauthClient(id), {
    set: { deletedAt: now(), ...dueIn(id, 0) },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
};

/** Deletes the token only; the client can get another one. */
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
