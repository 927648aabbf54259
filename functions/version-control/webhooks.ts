import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { keys } from '#platform/store/keys.ts';
import { create, put, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { type Access, accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import { ForgeError, mayPass } from './forge-error.ts';
import type { Repository } from './forges/forge.ts';
import {
  beginRotation,
  completeRotation,
  type FollowedRepository,
  getRepository,
  hasFollowers,
  hookPath,
  hookSecrets,
  keepConnection,
  keepRepository,
  openHookSecret,
  unfollow,
} from './repositories.ts';
import { recordVcsEvent } from './vcs-events.ts';

/** Webhooks at forges: one for each followed repository. */

/**
 * Adds a follower, and creates the repository's webhook. 3 writes and 3 calls for the first follower.
 * @param publicUrl URL at which the forge reaches the platform
 * @throws {ForgeError}
 */
export const follow = async (
  access: Access,
  found: Repository,
  follower: string,
  publicUrl: string,
): Promise<FollowedRepository> => {
  const repository = await keepRepository(access, found);
  const { id } = repository;
  const isNew = await create({ ...keys.follower(id, follower) });
  await put({ ...keys.oauthClientUse(access.client.id, follower, id), repository: id });
  try {
    if (!repository.hookId) await ensureWebhook(access, repository, publicUrl);
  } catch (error) {
    // Without this, a failed follower's rows would keep the repository and its webhook forever.
    if (isNew) await unfollow({ repository: id, clientId: access.client.id }, follower);
    throw error;
  }
  await updateExisting(keys.repository(repository.id), { remove: dueAttributes });
  return repository;
};

/** Ensures that the forge delivers here, even if its webhook was deleted or changed. 2 calls. @throws {ForgeError} */
export const ensureWebhook = async (
  { forge, call, isInstallation }: Access,
  repository: FollowedRepository,
  publicUrl: string,
): Promise<void> => {
  if (isInstallation) return;
  const [sealed = repository.sealedSecret] = hookSecrets(repository);
  const secret = await openHookSecret(repository, sealed);
  const url = `${publicUrl}${hookPath(repository)}`;
  const hookId = await forge.createHook(call, repository.identifier, { url, secret });
  await update(keys.repository(repository.id), {
    set: { hookId },
    condition: 'uuid = :uuid',
    values: { ':uuid': repository.uuid },
  });
};

/**
 * Gives the webhook a new secret. The new one is accepted before the forge has it, the old one for ten minutes
 * afterwards; an interrupted rotation continues with the same secret.
 * @throws {ForgeError}
 */
export const rotateSecret = async (
  access: Access,
  repository: FollowedRepository,
  publicUrl: string,
): Promise<void> => {
  const rotating = await beginRotation(repository);
  if (!rotating) throw new ForgeError('missing', `no workspace, policy set or module follows ${repository.identifier}`);
  await ensureWebhook(access, rotating, publicUrl);
  await completeRotation(rotating);
};

/** After this time, the platform gives up on a forge that refuses to delete a webhook. */
const triedMs = 3 * 24 * 3600_000;

/** False when a retry is needed. */
const deleteWebhook = async (repository: FollowedRepository): Promise<boolean> => {
  const { hookId, identifier, tokenId, httpUrl } = repository;
  if (!hookId) return true;
  try {
    const { forge, call } = await accessBy(tokenId, { patient: true, ended: true });
    await forge.deleteHook(call, identifier, hookId);
  } catch (error) {
    const since = Date.parse(repository.unusedAt ?? repository.createdAt);
    if (mayPass(error) && Date.now() - since < triedMs) return false;
    const { failure, message } = asForgeError('Version control', error);
    if (failure === 'missing') return true;
    await recordVcsEvent({
      organization: repository.organization,
      clientId: repository.clientId,
      tokenId,
      level: 'error',
      message: `The webhook of ${identifier} is no longer used, but could not be deleted: ${message}`,
      suggestedAction: `Delete the webhook whose URL ends in ${hookPath(repository)} in the settings of ${httpUrl || identifier}.`,
    });
  }
  return true;
};

/**
 * Handles a due repository: deletes it with its webhook unless it has followers. The webhook's address becomes
 * invalid when the record is deleted. True when nothing is left to do.
 */
export const settleRepository = async (id: string): Promise<boolean> => {
  const repository = await getRepository(id);
  if (!repository) return true;
  if (await hasFollowers(id)) {
    // Stays due if its last follower has left meanwhile: otherwise no check would delete it.
    await updateExisting(keys.repository(id), {
      remove: ['unusedAt', ...dueAttributes],
      condition: 'attribute_not_exists(unusedAt) OR unusedAt = :seen',
      values: { ':seen': repository.unusedAt ?? '' },
    });
    return true;
  }
  const { uuid } = repository;
  if (!repository.unusedAt && !repository.endedAt) {
    await keepConnection(repository);
    // The request that created it is in progress or was interrupted. If it gets no follower, the next check deletes it.
    await update(keys.repository(id), {
      set: { unusedAt: now(), ...dueIn(id, 600) },
      condition: 'uuid = :uuid',
      values: { ':uuid': uuid },
    });
    return false;
  }
  const ended = await update<FollowedRepository>(keys.repository(id), {
    set: { endedAt: now(), ...dueIn(id, 600) },
    condition: 'uuid = :uuid AND (attribute_exists(unusedAt) OR attribute_exists(endedAt))',
    values: { ':uuid': uuid },
  });
  // It has a follower again.
  if (!ended) return true;
  await remove(keys.hook(uuid));
  if (!(await deleteWebhook(repository))) return false;
  await remove(keys.repository(id), { condition: 'uuid = :uuid', values: { ':uuid': uuid } });
  // Removed last, because an interrupted deletion needs the connection. If the repository is followed again, the row
  // stays without effect.
  await remove(keys.oauthClientRest(repository.clientId, id));
  return true;
};
