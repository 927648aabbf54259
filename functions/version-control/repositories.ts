import { randomUUID } from 'node:crypto';
import { dueIn } from '../store/due.ts';
import { derivedId, newSecret } from '../store/id.ts';
import { type Key, keys } from '../store/keys.ts';
import { open, seal } from '../store/secrets.ts';
import { create, get, put, query, queryAll, remove, update } from '../store/table.ts';
import { now } from '../store/time.ts';
import type { VcsRepo } from '../workspaces/vcs-repo-record.ts';
import type { Access } from './access.ts';
import { ForgeError } from './forge-error.ts';
import type { Repository } from './forges/forge.ts';
import type { Dialect } from './service-providers.ts';

/**
 * Repositories that something follows: one record for each connection and identifier, with one webhook. Rows of followers
 * are written before a workspace says that it follows, and removed after; one that does not fit its workspace says nothing.
 */

export interface FollowedRepository {
  id: string;
  organization: string;
  /** OAuth client and token; of an installation of the GitHub App, its id in both places. */
  clientId: string;
  tokenId: string;
  dialect: Dialect;
  identifier: string;
  /** At the forge: what a webhook must name. */
  forgeId: string;
  defaultBranch: string;
  httpUrl: string;
  cloneUrl: string;
  /** Last part of the webhook's address. */
  uuid: string;
  sealedSecret: Uint8Array;
  /** On its way to the forge, which may have it already. */
  sealedNextSecret?: Uint8Array;
  /** What the forge had before, and until when it is accepted: deliveries are on their way. */
  sealedPreviousSecret?: Uint8Array;
  previousUntil?: string;
  /** At the forge; absent until it is created. */
  hookId?: string;
  /** Nobody follows it any more, since then. */
  unusedAt?: string;
  /** Its webhook is being deleted: whoever follows it now gets another record. */
  endedAt?: string;
  createdAt: string;
}

/** What follows a repository, by its id: a workspace, a policy set or a module of the registry. */
export const isWorkspace = (follower: string): boolean => follower.startsWith('ws-');
export const isPolicySet = (follower: string): boolean => follower.startsWith('polset-');
export const isModule = (follower: string): boolean => follower.startsWith('mod-');

export const repositoryId = (tokenId: string, identifier: string): string =>
  derivedId('repo', `${tokenId} ${identifier.toLowerCase()}`);

export const getRepository = (id: string): Promise<FollowedRepository | undefined> =>
  get<FollowedRepository>(keys.repository(id));

export const repositoryOfHook = async (uuid: string): Promise<FollowedRepository | undefined> => {
  const hook = await get<{ repository: string }>(keys.hook(uuid));
  const found = hook && (await getRepository(hook.repository));
  return found?.uuid === uuid && !found.unusedAt ? found : undefined;
};

export const hookPath = ({ uuid }: Pick<FollowedRepository, 'uuid'>): string => `/webhooks/vcs/${uuid}`;

const secretContext = (uuid: string) => ({ hook: uuid });

/** Those that the forge may sign with now, sealed; the one that it has, or gets, first. */
export const hookSecrets = (repository: FollowedRepository): Uint8Array[] => {
  const { sealedSecret, sealedNextSecret, sealedPreviousSecret, previousUntil = '' } = repository;
  const previous = previousUntil > now() ? sealedPreviousSecret : undefined;
  return [sealedNextSecret, sealedSecret, previous].filter((sealed) => sealed !== undefined);
};

/** 1 KMS request. */
export const openHookSecret = ({ uuid }: Pick<FollowedRepository, 'uuid'>, sealed: Uint8Array): Promise<string> =>
  open(sealed, secretContext(uuid));

/** The same again while the forge may not have it yet. Undefined when the repository is gone. */
export const beginRotation = async (repository: FollowedRepository): Promise<FollowedRepository | undefined> => {
  if (repository.sealedNextSecret) return repository;
  return update<FollowedRepository>(keys.repository(repository.id), {
    set: { sealedNextSecret: await seal(newSecret(), secretContext(repository.uuid)) },
    condition: 'uuid = :uuid AND attribute_not_exists(endedAt)',
    values: { ':uuid': repository.uuid },
  });
};

const previousGoodMs = 10 * 60_000;

/** The forge has it: what it had before is accepted for a while. */
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
 * Another repository has the name now: whoever gets hold of a name must not get to run code in the workspaces that follow it.
 * @throws {ForgeError} while something follows the one that had it
 */
const checkSame = async ({ id, identifier, forgeId }: FollowedRepository, found: Repository): Promise<void> => {
  if (forgeId === found.id || !(await hasFollowers(id))) return;
  throw new ForgeError(
    'missing',
    `${identifier} is another repository now than the one that is followed here. Disconnect what follows it first`,
  );
};

/** The record, made when there is none; with the webhook's secret, but without a webhook. @throws {ForgeError} */
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
    (await update<FollowedRepository>(keys.repository(id), {
      set: { ...facts, ...dueIn(id, 600) },
      remove: ['unusedAt'],
      condition: 'attribute_exists(pk) AND attribute_not_exists(endedAt)',
    }));
  if (renewed) return renewed;
  const uuid = randomUUID();
  const repository: FollowedRepository = {
    ...facts,
    id,
    organization: client.organization,
    clientId: client.id,
    tokenId: connectionId,
    dialect: client.dialect ?? 'github',
    uuid,
    sealedSecret: await seal(newSecret(), secretContext(uuid)),
    createdAt: now(),
  };
  // An installation's repositories have no webhook of their own: nothing is taken at such an address.
  if (!hasAppWebhook) await put({ ...keys.hook(uuid), repository: id });
  // Until its webhook and follower are there, the sweep looks whether anybody needs it.
  const made = await put(
    { ...keys.repository(id), ...repository, ...dueIn(id, 600) },
    { condition: 'attribute_not_exists(pk) OR attribute_exists(endedAt)' },
  );
  return made ? repository : ((await getRepository(id)) ?? repository);
};

/** Ids. */
export const listFollowers = async (id: string): Promise<string[]> => {
  const rows = await queryAll<Key>({ pk: keys.repository(id).pk, prefix: 'FOLLOWER#' });
  return rows.map(({ sk }) => sk.slice('FOLLOWER#'.length));
};

export const hasFollowers = async (id: string): Promise<boolean> =>
  (await query({ pk: keys.repository(id).pk, prefix: 'FOLLOWER#', limit: 1 })).length > 0;

/** Takes a follower away. The sweep sees to the webhook of a repository that nobody follows any more. */
export const leave = async (repository: string, follower: string): Promise<void> => {
  await remove(keys.follower(repository, follower));
  if (await hasFollowers(repository)) return;
  await update(keys.repository(repository), {
    set: { unusedAt: now(), ...dueIn(repository, 0) },
    condition: 'attribute_exists(pk) AND attribute_not_exists(endedAt)',
  });
};

/** What it followed is left. */
export const unfollow = async (
  { repository, clientId }: Pick<VcsRepo, 'repository' | 'clientId'>,
  follower: string,
): Promise<void> => {
  await leave(repository, follower);
  await remove(keys.oauthClientUse(clientId, follower));
};

interface Use extends Key {
  follower: string;
  repository: string;
}

/** Every follower of a connection, with its repository. */
export const listUses = async (clientId: string): Promise<Use[]> => {
  const rows = await queryAll<Use>({ pk: keys.oauthClient(clientId).pk, prefix: 'USE#' });
  return rows.map((row) => ({ ...row, follower: row.sk.slice('USE#'.length) }));
};

/** A branch from one commit to another, in the order in which this platform learned of it. */
export interface Move {
  n: number;
  branch: string;
  /** Absent for the first one, and where the commits between are unknown. */
  from?: string;
  to: string;
  /** The delivery, or whoever looked. */
  by: string;
  tag?: string;
}

const keptMoves = 50;

/** The newest first, as many as are kept. 1 query. */
export const recentMoves = (repository: string, branch: string): Promise<Move[]> => {
  const { pk, sk } = keys.movesOf(repository, branch);
  return query<Move>({ pk, prefix: sk, reverse: true, limit: keptMoves });
};

/** False when there is one of that number: somebody else was faster. */
export const addMove = async (repository: string, move: Move): Promise<boolean> => {
  if (!(await create({ ...keys.move(repository, move.branch, move.n), ...move }))) {
    // The SDK's second try of a write whose answer was lost.
    const there = await get<Move>(keys.move(repository, move.branch, move.n));
    return there?.by === move.by && there.to === move.to;
  }
  if (move.n > keptMoves) await remove(keys.move(repository, move.branch, move.n - keptMoves));
  return true;
};

export const getMove = (repository: string, branch: string, n: number): Promise<Move | undefined> =>
  get<Move>(keys.move(repository, branch, n));
