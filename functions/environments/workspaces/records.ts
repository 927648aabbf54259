import type { Due } from '#platform/store/due.ts';
import { setOrRemove } from '#platform/store/edits.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { recordsAt, updateRecord } from '#platform/store/records.ts';
import { create, get, put, queryAll, remove } from '#platform/store/table.ts';
import { claimUnique, findUnique, releaseUnique } from '#platform/store/unique-names.ts';
import { keys } from '../keys.ts';

/** Environments: created from a template for a user, and built repeatedly. */

export interface Environment extends Due {
  id: string;
  organization: string;
  projectId: string;
  name: string;
  ownerId: string;
  ownerName: string;
  templateId: string;
  /** The platform's workspace with its states, lock and runs. */
  workspaceId: string;
  createdAt: string;
  updatedAt: string;
  lastUsedAt: string;
  /** Number of its builds so far. */
  buildNumber: number;
  latestBuildId: string;
  /** The build in progress, if any. */
  activeBuildId?: string;
  autostartSchedule?: string;
  ttlMs?: number;
  automaticUpdates: 'always' | 'never';
  dormantAt?: string;
  deletedAt?: string;
  /** Its pool; absent once it is claimed (prebuilds/). */
  prebuild?: { presetId: string; versionId: string };
}

export const getAnyEnvironment = (id: string): Promise<Environment | undefined> =>
  get<Environment>(keys.environment(id));

/** Without deleted environments. */
export const { read: getEnvironment, readAll: getEnvironments } = recordsAt<Environment>(keys.environment);

interface Pointer {
  environmentId: string;
}

export const findEnvironment = async (ownerId: string, name: string): Promise<Environment | undefined> => {
  const environment = await findUnique(keys.environmentName(ownerId, name), getEnvironment);
  return environment && bearsName(environment, ownerId, name) ? environment : undefined;
};

/** The environment with this name that was deleted last, even if it was renamed or claimed before. */
export const findDeletedEnvironment = async (ownerId: string, name: string): Promise<Environment | undefined> => {
  const pointer = await get<Pointer>(keys.deletedEnvironmentName(ownerId, name));
  return pointer && getAnyEnvironment(pointer.environmentId);
};

const bearsName = (environment: Environment, ownerId: string, name: string): boolean =>
  environment.ownerId === ownerId && foldCase(environment.name) === foldCase(name);

/** A user's environments, ordered by name. */
export const listOfOwner = async (ownerId: string): Promise<Environment[]> => {
  const { pk } = keys.environmentName(ownerId, '');
  const pointers = await queryAll<{ holder: string }>({ pk, prefix: 'NAME#' });
  return getEnvironments(pointers.map(({ holder }) => holder));
};

export const listOfOrganization = async (organization: string): Promise<Environment[]> => {
  const { pk } = keys.environmentIn(organization, '');
  return getEnvironments((await queryAll<Pointer>({ pk, prefix: 'ENV#' })).map(({ environmentId }) => environmentId));
};

const bears =
  (ownerId: string, name: string) =>
  async (id: string): Promise<boolean> => {
    const environment = await getEnvironment(id);
    return environment !== undefined && bearsName(environment, ownerId, name);
  };

/** Longer than any function that claims a name. */
const reservationMs = 5 * 60_000;

/** One conditional write, so that only one of several concurrent claims succeeds. */
export const claimName = (ownerId: string, name: string, id: string): Promise<boolean> =>
  claimUnique(keys.environmentName(ownerId, name), id, bears(ownerId, name), { ms: reservationMs });

export const releaseName = (ownerId: string, name: string, id: string): Promise<boolean> =>
  releaseUnique(keys.environmentName(ownerId, name), id);

/** Call after claiming its name. Writes pointers first, because readers skip dangling ones. */
export const createEnvironment = async (environment: Environment): Promise<void> => {
  const { id, organization, templateId } = environment;
  await Promise.all([
    put({ ...keys.environmentIn(organization, id), environmentId: id }),
    put({ ...keys.environmentOfTemplate(templateId, id), environmentId: id }),
  ]);
  await create({ ...keys.environment(id), ...environment });
};

export type EnvironmentChange = Partial<
  Pick<Environment, 'name' | 'autostartSchedule' | 'ttlMs' | 'automaticUpdates' | 'lastUsedAt' | 'dormantAt'>
>;

/** Removes attributes set to undefined. */
export const updateEnvironment = (id: string, change: EnvironmentChange): Promise<Environment | undefined> =>
  updateRecord<Environment>(keys.environment(id), setOrRemove({ ...change, updatedAt: new Date().toISOString() }));

/** Removes the pointers to a deleted environment. Can be repeated. */
export const forgetEnvironment = async (environment: Environment): Promise<void> => {
  const { id, organization, templateId, ownerId, name, createdAt } = environment;
  // Its record stays.
  await put({ ...keys.deletedEnvironment(organization, id) });
  await Promise.all([
    ...(environment.prebuild ? [remove(keys.prebuild(templateId, createdAt, id))] : []),
    releaseName(ownerId, name, id),
    remove(keys.environmentIn(organization, id)),
    remove(keys.environmentOfTemplate(templateId, id)),
    remove(keys.favorite(ownerId, id)),
  ]);
};

/** For {@link findDeletedEnvironment}. */
export const noteDeletion = ({ id, ownerId, name }: Environment): Promise<unknown> =>
  put({ ...keys.deletedEnvironmentName(ownerId, name), environmentId: id });

export const setFavorite = async (ownerId: string, id: string, favorite: boolean): Promise<void> => {
  if (favorite) await put({ ...keys.favorite(ownerId, id), environmentId: id });
  else await remove(keys.favorite(ownerId, id));
};

/** Ids of a user's favorites. 1 read. */
export const favoritesOf = async (ownerId: string): Promise<Set<string>> => {
  const { pk } = keys.environmentName(ownerId, '');
  const pointers = await queryAll<Pointer>({ pk, prefix: 'FAVORITE#' });
  return new Set(pointers.map(({ environmentId }) => environmentId));
};
