import { randomUUID } from 'node:crypto';
import { dueIn } from '#platform/store/due.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { derivedId, newSecret } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { openCached, seal } from '#platform/store/secrets.ts';
import { create, get, put, query, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { VcsRepo } from '#resources/workspaces/vcs-repo-record.ts';
import type { Access } from './access.ts';
import { ForgeError } from './forge-error.ts';
import type { Repository } from './forges/forge.ts';
import type { Dialect } from './service-providers.ts';

/**
 * Followed repositories: one record for each connection and identifier, with one webhook. The row of a follower is
 * written before its workspace refers to the repository and removed after, so a row without such a workspace has no
 * effect.
 */

export interface FollowedRepository {
  id: string;
  organization: string;
  /** OAuth client and token; for an installation of the GitHub App, its id in both fields. */
  clientId: string;
  tokenId: string;
  dialect: Dialect;
  identifier: string;
  /** Id at the forge, which webhooks must contain. */
  forgeId: string;
  defaultBranch: string;
  httpUrl: string;
  cloneUrl: string;
  /** Last part of the webhook's address. */
  uuid: string;
  sealedSecret: Uint8Array;
  /** The next secret while it is being sent to the forge, which may already have it. */
  sealedNextSecret?: Uint8Array;
  /** The previous secret, and the end of its validity: deliveries may be in transit. */
  sealedPreviousSecret?: Uint8Array;
  previousUntil?: string;
  /** Id at the forge; absent until it is created. */
  hookId?: string;
  /** When it lost its last follower. */
  unusedAt?: string;
  /** Set while its webhook is being deleted: a new follower gets another record. */
  endedAt?: string;
  createdAt: string;
}

/** Followers of a repository are identified by their id: a workspace, a policy set or a module of the registry. */
export const isWorkspace = (follower: string): boolean => follower.startsWith('ws-');
export const isPolicySet = (follower: string): boolean => follower.startsWith('polset-');
export const isModule = (follower: string): boolean => follower.startsWith('mod-');

export const repositoryId = (tokenId: string, identifier: string): string =>
  derivedId('repo', `${tokenId} ${foldCase(identifier)}`);

export const getRepository = (id: string): Promise<FollowedRepository | undefined> =>
  get<FollowedRepository>(keys.repository(id));

export const repositoryOfHook = async (uuid: string): Promise<FollowedRepository | undefined> => {
  const hook = await get<{ repository: string }>(keys.hook(uuid));
  const found = hook && (await getRepository(hook.repository));
  return found?.uuid === uuid && !found.unusedAt ? found : undefined;
};

export const hookPath = ({ uuid }: Pick<FollowedRepository, 'uuid'>): string => `/webhooks/vcs/${uuid}`;

const secretContext = (uuid: string) => ({ hook: uuid });

/** Encrypted secrets with which the forge may sign now; the current one first. */
export const hookSecrets = (repository: FollowedRepository): Uint8Array[] => {
  const { sealedSecret, sealedNextSecret, sealedPreviousSecret, previousUntil = '' } = repository;
  const previous = previousUntil > now() ? sealedPreviousSecret : undefined;
  return [sealedNextSecret, sealedSecret, previous].filter((sealed) => sealed !== undefined);
};

/** 1 KMS request. */
export const openHookSecret = ({ uuid }: Pick<FollowedRepository, 'uuid'>, sealed: Uint8Array): Promise<string> =>
  openCached(sealed, secretContext(uuid));

/** Returns the same secret until the forge has it. Undefined when the repository is deleted. */
export const beginRotation = async (repository: FollowedRepository): Promise<FollowedRepository | undefined> => {
  if (repository.sealedNextSecret) return repository;
  return update<FollowedRepository>(keys.repository(repository.id), {
    set: { sealedNextSecret: await seal(newSecret(), secretContext(repository.uuid)) },
    condition: 'uuid = :uuid AND attribute_not_exists(endedAt)',
    values: { ':uuid': repository.uuid },
  });
};

const previousGoodMs = 10 * 60_000;

/** Called once the forge has the secret: the previous one stays valid for a while. */
export const completeRotation = async ({ id, uuid, sealedSecret, sealedNextSecret }: FollowedRepository) => {
  await update(keys.repository(id), {
    set: {
      sealedSecret: sealedNextSecret,
      sealedPreviousSecret: sealedSecret,
      previousUntil: new Date(Date.now() + previousGoodMs).toISOString(),
    },
    remove: ['sealedNextSecret'],
    condition: 'uuid = :uuid AND sealedNextSecret = :next',
    values: { ':uuid': uuid, ':next': sealedNextSecret },
  });
};

/**
 * Rejects a repository that has taken over the name of a followed one: its owner must not run code in those
 * workspaces.
 * @throws {ForgeError} while the former one has followers
 */
const checkSame = async ({ id, identifier, forgeId }: FollowedRepository, found: Repository): Promise<void> => {
  if (forgeId === found.id || !(await hasFollowers(id))) return;
  throw new ForgeError(
    'missing',
    `${identifier} is not the repository that is followed: another repository has taken its name. Disconnect its followers first`,
  );
};

/**
 * Returns the record, creating it if necessary, with the webhook's secret but without a webhook.
 * @throws {ForgeError}
 */
export const keepRepository = async (
  { client, id: connectionId, isInstallation: hasAppWebhook }: Pick<Access, 'client' | 'id' | 'isInstallation'>,
  found: Repository,
): Promise<FollowedRepository> => {
  const id = repositoryId(connectionId, found.identifier);
  const facts = {
    defaultBranch: found.defaultBranch,
    httpUrl: found.httpUrl,
    cloneUrl: found.cloneUrl,
    forgeId: found.id,
    identifier: found.identifier,
  };
  const before = await getRepository(id);
  if (before && !before.endedAt) await checkSame(before, found);
  const renewed =
    before &&
    (await updateExisting<FollowedRepository>(keys.repository(id), {
      set: { ...facts, ...dueIn(id, 600) },
      remove: ['unusedAt'],
      condition: 'attribute_not_exists(endedAt)',
    }));
  if (renewed) return renewed;
  const uuid = randomUUID();
  const repository: FollowedRepository = {
    ...facts,
    id,
    organization: client.organization,
    clientId: client.id,
    tokenId: connectionId,
    dialect: client.dialect,
    uuid,
    sealedSecret: await seal(newSecret(), secretContext(uuid)),
    createdAt: now(),
  };
  // An installation's repositories have no webhook of their own: deliveries to such an address are rejected.
  if (!hasAppWebhook) await put({ ...keys.hook(uuid), repository: id });
  // Until its webhook and follower exist, the sweep checks whether the record is still needed.
  const made = await put(
    { ...keys.repository(id), ...repository, ...dueIn(id, 600) },
    { condition: 'attribute_not_exists(pk) OR attribute_exists(endedAt)' },
  );
  return made ? repository : ((await getRepository(id)) ?? repository);
};

/** Returns ids. */
export const listFollowers = async (id: string): Promise<string[]> => {
  const rows = await queryAll<Key>({ pk: keys.repository(id).pk, prefix: 'FOLLOWER#' });
  return rows.map(({ sk }) => sk.slice('FOLLOWER#'.length));
};

export const hasFollowers = async (id: string): Promise<boolean> =>
  (await query({ pk: keys.repository(id).pk, prefix: 'FOLLOWER#', limit: 1 })).length > 0;

/** Keeps the connection of an unused repository until its webhook is deleted, which requires the token. */
export const keepConnection = async ({ clientId, id }: Pick<FollowedRepository, 'clientId' | 'id'>): Promise<void> => {
  await update(keys.oauthClientRest(clientId, id), { set: { repository: id } });
};

/** Removes a follower. The sweep deletes the webhook of a repository without followers. */
export const leave = async (repository: string, follower: string): Promise<void> => {
  await remove(keys.follower(repository, follower));
  if (await hasFollowers(repository)) return;
  const record = await getRepository(repository);
  if (!record) return;
  // First, so that a later deletion of the connection finds it.
  await keepConnection(record);
  await updateExisting(keys.repository(repository), {
    set: { unusedAt: now(), ...dueIn(repository, 0) },
    condition: 'attribute_not_exists(endedAt)',
  });
};

/** Removes the follower from its former repository. */
export const unfollow = async (
  { repository, clientId }: Pick<VcsRepo, 'repository' | 'clientId'>,
  follower: string,
): Promise<void> => {
  await leave(repository, follower);
  await remove(keys.oauthClientUse(clientId, follower, repository));
};

interface Use extends Key {
  follower: string;
  repository: string;
}

/** All followers of a connection, with their repositories. */
export const listUses = async (clientId: string): Promise<Use[]> => {
  const rows = await queryAll<Use>({ pk: keys.oauthClient(clientId).pk, prefix: 'USE#' });
  return rows.map((row) => ({ ...row, follower: row.sk.split('#')[1] ?? '' }));
};

/** Repositories whose webhooks the connection still has to delete. */
export const listRest = (clientId: string): Promise<(Key & { repository: string })[]> =>
  queryAll({ pk: keys.oauthClient(clientId).pk, prefix: 'REST#' });

/** A branch's move from one commit to another, in the order in which this platform received them. */
export interface Move {
  n: number;
  branch: string;
  /** Absent for the first move, and if the commits between are unknown. */
  from?: string;
  to: string;
  /** Id of the delivery or request that found it. */
  by: string;
  tag?: string;
}

const keptMoves = 50;

/** All stored moves, newest first. 1 query. */
export const recentMoves = (repository: string, branch: string): Promise<Move[]> => {
  const { pk, sk } = keys.movesOf(repository, branch);
  return query<Move>({ pk, prefix: sk, reverse: true, limit: keptMoves });
};

/** False when a concurrent delivery took the number. */
export const addMove = async (repository: string, move: Move): Promise<boolean> => {
  if (!(await create({ ...keys.move(repository, move.branch, move.n), ...move }))) {
    // The SDK retried a write whose response was lost.
    const there = await get<Move>(keys.move(repository, move.branch, move.n));
    return there?.by === move.by && there.to === move.to;
  }
  if (move.n > keptMoves) await remove(keys.move(repository, move.branch, move.n - keptMoves));
  return true;
};

export const getMove = (repository: string, branch: string, n: number): Promise<Move | undefined> =>
  get<Move>(keys.move(repository, branch, n));
