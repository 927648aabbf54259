import { foldCase } from '#platform/store/fold-case.ts';
import type { Key } from '#platform/store/keys.ts';
import { listNames, recordsAt, updateRecord } from '#platform/store/records.ts';
import { batchGet, get, put, query, queryAll, updateExisting } from '#platform/store/table.ts';
import {
  claimName,
  createNamedRecord,
  findUnique,
  releaseName,
  rename,
  type UniqueNames,
} from '#platform/store/unique-names.ts';
import { keys } from '../keys.ts';

/** Templates: named versions, with rules for their environments. */

export interface TemplateSettings {
  displayName: string;
  description: string;
  icon: string;
  defaultTtlMs: number;
  activityBumpMs: number;
  autostopDays: string[];
  autostopWeeks: number;
  autostartDays: string[];
  allowUserAutostart: boolean;
  allowUserAutostop: boolean;
  allowUserCancelWorkspaceJobs: boolean;
  failureTtlMs: number;
  timeTilDormantMs: number;
  timeTilDormantAutodeleteMs: number;
  requireActiveVersion: boolean;
  /** Empty: not deprecated. */
  deprecationMessage: string;
}

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

const hourMs = 3_600_000;

export const defaultTemplateSettings: TemplateSettings = {
  displayName: '',
  description: '',
  icon: '',
  defaultTtlMs: 0,
  activityBumpMs: hourMs,
  autostopDays: [],
  autostopWeeks: 1,
  autostartDays: weekdays,
  allowUserAutostart: true,
  allowUserAutostop: true,
  allowUserCancelWorkspaceJobs: false,
  failureTtlMs: 0,
  timeTilDormantMs: 0,
  timeTilDormantAutodeleteMs: 0,
  requireActiveVersion: false,
  deprecationMessage: '',
};

export interface Template extends TemplateSettings {
  id: string;
  organization: string;
  projectId: string;
  name: string;
  activeVersionId: string;
  /** Starts of its environments check the owner's quota. */
  hasQuotas?: true;
  /** The workspace of its imports. */
  workspaceId: string;
  createdBy: string;
  createdByName: string;
  createdAt: string;
  updatedAt: string;
  deletedAt?: string;
}

const records = recordsAt<Template>(keys.template);
export const getTemplate = records.read;

/** Includes deleted templates, which environments may still use. */
export const getAnyTemplate = (id: string): Promise<Template | undefined> => get<Template>(keys.template(id));

/** By id; missing ones are left out. 1 read per 100. */
export const getTemplates = async (ids: string[]): Promise<Map<string, Template>> => {
  const records = await batchGet<Template & Key>([...new Set(ids)].map(keys.template));
  return new Map(records.map((template) => [template.id, template]));
};

/** 2 reads. */
export const findTemplate = async (organization: string, name: string): Promise<Template | undefined> => {
  const template = await findUnique(keys.templateName(organization, name), getTemplate);
  return template && foldCase(template.name) === foldCase(name) ? template : undefined;
};

/** Ordered by name. */
export const listTemplates = async (organization: string): Promise<Template[]> => {
  const templates = await records.readAll((await listNames(organization, 'TPLNAME#')).map(({ id }) => id));
  return templates.sort((a, b) => (a.name < b.name ? -1 : 1));
};

const names: UniqueNames<Template> = {
  key: ({ organization, name }) => keys.templateName(organization, name),
  find: getTemplate,
};

/** Undefined when the name is taken. */
export const createTemplate = (template: Template): Promise<Template | undefined> =>
  createNamedRecord(names, template, keys.template(template.id));

export type TemplateChange = Partial<TemplateSettings & Pick<Template, 'name' | 'activeVersionId'>>;

export const updateTemplate = async (
  template: Template,
  change: TemplateChange,
): Promise<Template | 'name taken' | undefined> => {
  const changed = { ...template, name: change.name ?? template.name };
  return rename(names, template, changed, () =>
    updateRecord<Template>(keys.template(template.id), { set: { ...change, updatedAt: new Date().toISOString() } }),
  );
};

/** Whether it has environments (deleted ones do not count). 1 read. */
export const hasEnvironments = async (id: string): Promise<boolean> =>
  (await query({ pk: keys.template(id).pk, prefix: 'ENV#', limit: 1 })).length > 0;

/** Ids of those environments. */
export const environmentsOf = async (id: string): Promise<string[]> =>
  (await queryAll<{ environmentId: string }>({ pk: keys.template(id).pk, prefix: 'ENV#' })).map(
    ({ environmentId }) => environmentId,
  );

/** Rules out new environments. Can be repeated. */
export const markDeleted = async (template: Template): Promise<void> => {
  await updateRecord(keys.template(template.id), { set: { deletedAt: new Date().toISOString() } });
  await put({ ...keys.deletedTemplate(template.organization, template.id) });
  await releaseName(names, template);
};

/** Undoes {@link markDeleted} when an environment was created in between. */
export const unmarkDeleted = async (template: Template): Promise<void> => {
  await updateExisting(keys.template(template.id), { remove: ['deletedAt'] });
  await claimName(names, template);
};
