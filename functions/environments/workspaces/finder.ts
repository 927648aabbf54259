import { type Rights, rightsIn } from '../access.ts';
import { type Build, getBuild } from '../builds/records.ts';
import { settleBuild } from '../builds/settle.ts';
import { flagIn } from '../host/body.ts';
import { CoderError, notFound } from '../host/errors.ts';
import type { Call } from '../host/route.ts';
import { prebuildsUser, uuidIn } from '../host/uuid.ts';
import { findPerson } from '../people/users.ts';
import { getAnyTemplate, type Template } from '../templates/records.ts';
import { environmentDocument, type Latest } from './document.ts';
import {
  type Environment,
  favoritesOf,
  findDeletedEnvironment,
  findEnvironment,
  getAnyEnvironment,
} from './records.ts';

/** Finds environments for a caller; an invisible one is reported as missing. */

export interface Found {
  environment: Environment;
  rights: Rights;
  /** The caller owns the environment, or has the right to change those of others. */
  mayChange: boolean;
}

const seenBy = async (call: Call, environment: Environment | undefined): Promise<Found> => {
  if (!environment) throw notFound();
  const rights = await rightsIn(call.principal, environment);
  const isOwn = environment.ownerId === call.principal.userId;
  if (!rights.read || !(isOwn || rights.others)) throw notFound();
  return { environment, rights, mayChange: environment.prebuild ? rights.manage : isOwn || rights.others };
};

export const byId = async (call: Call): Promise<Found> =>
  seenBy(call, await getAnyEnvironment(uuidIn(call.request.params.workspace ?? '')));

/** Finds an environment that is not deleted. @throws {CoderError} 410 */
export const livingById = async (call: Call): Promise<Found> => {
  const target = await byId(call);
  if (!target.environment.deletedAt || flagIn(call.request, 'include_deleted')) return target;
  throw new CoderError(
    410,
    `Workspace "${target.environment.id}" was deleted, you can view this workspace by specifying '?deleted=true' and trying again.`,
  );
};

/** With `include_deleted`, the living environment of that name, or else the one that was deleted last. */
export const byName = async (call: Call): Promise<Found> => {
  const { user = '', name = '' } = call.request.params;
  const owner = user === prebuildsUser.username ? prebuildsUser : await findPerson(call, user);
  const living = owner && (await findEnvironment(owner.id, name));
  const deleted = owner && !living && flagIn(call.request, 'include_deleted');
  return seenBy(call, deleted ? await findDeletedEnvironment(owner.id, name) : living);
};

export const buildById = async (call: Call): Promise<Found & { build: Build }> => {
  const build = await getBuild(uuidIn(call.request.params.build ?? ''));
  const target = await seenBy(call, build && (await getAnyEnvironment(build.environmentId)));
  return { ...target, build: build as Build };
};

export const latestOf = async (environment: Environment): Promise<Latest> => {
  const build = await getBuild(environment.latestBuildId);
  if (!build) throw new Error(`environment ${environment.id} has no build ${environment.latestBuildId}`);
  return settleBuild(build);
};

export const templateOf = async ({ id, templateId }: Environment): Promise<Template> => {
  const template = await getAnyTemplate(templateId);
  if (!template) throw new Error(`environment ${id} has no template ${templateId}`);
  return template;
};

/** Settles the latest build first, and reads the environment again if that changed it. */
export const describe = async (call: Call, environment: Environment) => {
  const [latest, template, favorites] = await Promise.all([
    latestOf(environment),
    templateOf(environment),
    favoritesOf(call.principal.userId),
  ]);
  return environmentDocument(environment, template, latest, { isFavorite: favorites.has(environment.id) });
};
