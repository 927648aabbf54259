import { foldCase } from '#platform/store/fold-case.ts';
import type { Key } from '#platform/store/keys.ts';
import { batchGet, create, get, put, queryAll, remove, updateExisting } from '#platform/store/table.ts';
import { claimName, findUnique, rename, type UniqueNames } from '#platform/store/unique-names.ts';
import type { Job } from '../jobs.ts';
import { keys } from '../keys.ts';
import type { Archive } from '../runs.ts';
import type { Parameter, Preset, TemplateResource } from './plan.ts';
import type { Variable } from './variables.ts';

/** Versions of templates: immutable files, and the results of their import. */

export interface Version extends Job {
  id: string;
  projectId: string;
  /** Absent until the version belongs to a template. */
  templateId?: string;
  name: string;
  message: string;
  readme: string;
  createdByName: string;
  updatedAt: string;
  archived: boolean;
  archive: Archive;
  /** The workspace of its import. */
  workspaceId: string;
  variables: Variable[];
  warnings?: string[];
}

/** Results of the import, in a separate item, because versions are read far more often. */
export interface Found {
  parameters: Parameter[];
  presets: Preset[];
  start: TemplateResource[];
  stop: TemplateResource[];
}

export const getVersion = (id: string): Promise<Version | undefined> => get<Version>(keys.version(id));

const getVersions = async (ids: string[]): Promise<Map<string, Version>> => {
  const records = await batchGet<Version & Key>([...new Set(ids)].map(keys.version));
  return new Map(records.map((version) => [version.id, version]));
};

export const getFound = async (versionId: string): Promise<Found> => {
  const item = await get<{ json: string }>(keys.found(versionId));
  return item ? (JSON.parse(item.json) as Found) : { parameters: [], presets: [], start: [], stop: [] };
};

export const putFound = async (versionId: string, content: Found): Promise<void> => {
  await put({ ...keys.found(versionId), json: JSON.stringify(content) });
};

/** Versions have unique names once they belong to a template. */
const names: UniqueNames<Version> = {
  key: ({ templateId = '', name }) => keys.versionName(templateId, name),
  find: getVersion,
};

const list = async ({ id, organization, templateId, createdAt }: Version): Promise<void> => {
  if (!templateId) await put({ ...keys.looseVersion(organization, id) });
  else await put({ ...keys.versionOfTemplate(templateId, createdAt, id), versionId: id });
};

/** False when its template has another version with this name. */
export const createVersion = async (version: Version): Promise<boolean> => {
  if (version.templateId && !(await claimName(names, version))) return false;
  if (!version.templateId) await list(version);
  await create({ ...keys.version(version.id), ...version });
  if (version.templateId) await list(version);
  return true;
};

/** Assigns the version to a template; undefined when it belongs to another one. */
export const adoptVersion = async (version: Version, templateId: string): Promise<Version | undefined> => {
  const adopted = await updateExisting<Version>(keys.version(version.id), {
    set: { templateId },
    condition: 'attribute_not_exists(templateId) OR templateId = :template',
    values: { ':template': templateId },
  });
  if (!adopted) return undefined;
  await claimName(names, adopted);
  await list(adopted);
  await remove(keys.looseVersion(adopted.organization, adopted.id));
  return adopted;
};

export const findVersion = async (templateId: string, name: string): Promise<Version | undefined> => {
  const version = await findUnique(keys.versionName(templateId, name), getVersion);
  return version?.templateId === templateId && foldCase(version.name) === foldCase(name) ? version : undefined;
};

/** Oldest first. */
export const listVersions = async (templateId: string): Promise<Version[]> => {
  const { pk } = keys.template(templateId);
  const pointers = await queryAll<{ versionId: string }>({ pk, prefix: 'VERSION#' });
  const versions = await getVersions(pointers.map(({ versionId }) => versionId));
  return pointers.flatMap(({ versionId }) => versions.get(versionId) ?? []);
};

export const updateVersion = async (
  version: Version,
  change: Partial<Pick<Version, 'name' | 'message'>>,
): Promise<Version | 'name taken' | undefined> => {
  const write = () =>
    updateExisting<Version>(keys.version(version.id), { set: { ...change, updatedAt: new Date().toISOString() } });
  const changed = { ...version, name: change.name ?? version.name };
  return version.templateId ? rename(names, version, changed, write) : write();
};

export const setArchived = (id: string, archived: boolean): Promise<Version | undefined> =>
  updateExisting<Version>(keys.version(id), { set: { archived, updatedAt: new Date().toISOString() } });

/** Records the end of its import, once. */
export const completeVersion = async (id: string, set: Partial<Version>): Promise<Version | undefined> =>
  (await updateExisting<Version>(keys.version(id), {
    set: { ...set, updatedAt: new Date().toISOString() },
    condition: 'attribute_not_exists(completedAt)',
  })) ?? (await getVersion(id));
