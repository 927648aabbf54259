import { inBatches } from '#platform/store/batches.ts';
import { type Key, keys as shared } from '#platform/store/keys.ts';
import { listNames } from '#platform/store/records.ts';
import { get, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { keys } from './keys.ts';
import type { Version } from './templates/versions.ts';
import { type Environment, forgetEnvironment, getAnyEnvironment } from './workspaces/records.ts';

/**
 * Removal of a deleted organization's templates and environments, also of those that were deleted before. Uploaded
 * archives stay: they belong to their users. Pointers go after the records that they point to, and the item that
 * makes the removal due goes last: can be repeated.
 */

const removeAll = async (pk: string, prefix = ''): Promise<void> => {
  await inBatches(await queryAll<Key>({ pk, prefix }), ({ sk }) => remove({ pk, sk }));
};

const idIn = ({ sk }: Key): string => sk.slice(sk.indexOf('#') + 1);

const removeEnvironment = async (id: string): Promise<void> => {
  const environment = await getAnyEnvironment(id);
  const { pk } = keys.environment(id);
  const builds = await queryAll<{ buildId: string }>({ pk, prefix: 'BUILD#' });
  await inBatches(builds, ({ buildId }) => remove(keys.build(buildId)));
  if (environment) await forgetOwner(environment);
  await removeAll(pk);
};

const forgetOwner = async (environment: Environment): Promise<void> => {
  const { id, ownerId, name, organization } = environment;
  await forgetEnvironment(environment);
  await remove(keys.deletedEnvironmentName(ownerId, name), {
    condition: 'environmentId = :id',
    values: { ':id': id },
  });
  await remove(keys.quotaLedger(ownerId, organization));
};

const removeVersion = async (id: string): Promise<void> => {
  const version = await get<Version>(keys.version(id));
  if (version) {
    const { fileId, organization, projectId } = version;
    await updateExisting(keys.file(fileId), { delete: { homes: new Set([`${organization} ${projectId}`]) } });
  }
  await removeAll(keys.version(id).pk);
};

const removeTemplate = async (id: string): Promise<void> => {
  const { pk } = keys.template(id);
  const versions = await queryAll<{ versionId: string }>({ pk, prefix: 'VERSION#' });
  await inBatches(versions, ({ versionId }) => removeVersion(versionId));
  await removeAll(pk);
};

export const removeEnvironmentsOf = async (organization: string): Promise<void> => {
  const { pk } = shared.organization(organization);
  for (const prefix of ['ENV#', 'ENVDELETED#']) {
    await inBatches(await queryAll<Key>({ pk, prefix }), (key) => removeEnvironment(idIn(key)));
  }
  const named = await listNames(organization, 'TPLNAME#');
  const deleted = await queryAll<Key>({ pk, prefix: 'TPLDELETED#' });
  await inBatches([...named.map(({ id }) => id), ...deleted.map(idIn)], removeTemplate);
  await inBatches(await queryAll<Key>({ pk, prefix: 'TPLVERSION#' }), (key) => removeVersion(idIn(key)));
  for (const prefix of ['ENV#', 'ENVDELETED#', 'TPL', 'METRIC#']) await removeAll(pk, prefix);
  await remove(keys.prebuildSettings(organization));
  await remove(keys.quotas(organization));
  await remove(shared.environmentsEnd(organization));
};
