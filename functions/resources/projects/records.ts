import type { ProjectGrant, TeamAccess } from '#api/permissions/team-access.ts';
import { asEdit, type Edited, type Editor } from '#platform/store/edits.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import {
  countNames,
  eachName,
  findNames,
  type NameCounts,
  type Names,
  pageOfNames,
} from '#platform/store/name-index.ts';
import { recordsAt } from '#platform/store/records.ts';
import type { Paging, ScanResult } from '#platform/store/scan.ts';
import { create, get, query, remove, updateExisting } from '#platform/store/table.ts';
import { usePool, withPoolUse } from '#resources/agents/pools/uses.ts';
import type { ExecutionMode } from '#run/execution-mode.ts';
import type { Tag } from './tags.ts';

export interface Project extends Edited {
  id: string;
  organization: string;
  name: string;
  description: string | null;
  createdAt: string;
  /** Default execution mode of its workspaces; a copy if it is the organization's. */
  defaultExecutionMode?: ExecutionMode;
  /** Set with execution mode `agent` only. */
  defaultAgentPoolId?: string | null;
  /** Absent: true. */
  inheritsExecutionMode?: boolean;
  /** Default period without a state change after which its workspaces are destroyed. */
  autoDestroyActivityDuration?: string | null;
  /** Without duplicates, in the order in which they were added; its workspaces inherit them. */
  tags?: Tag[];
  /** Access of teams to the project and its workspaces. */
  teamAccess?: TeamAccess<ProjectGrant>;
  /** Ids of its notification configurations; its workspaces carry a flag that there are some. */
  notifications?: Set<string>;
}

export type ProjectSettings = Pick<
  Project,
  | 'name'
  | 'description'
  | 'defaultExecutionMode'
  | 'defaultAgentPoolId'
  | 'inheritsExecutionMode'
  | 'tags'
  | 'autoDestroyActivityDuration'
>;

export const { read: getProject, readAll: getProjects } = recordsAt<Project>(keys.project);

/** An entry of the index by name. */
export interface ProjectName extends Key {
  projectId: string;
  name: string;
}

const namesOf = (organization: string): Names => ({ pk: keys.organization(organization).pk, prefix: 'PROJECT#' });

/** Skips entries of former names that an interrupted rename left behind. */
const named = async (entries: ProjectName[]): Promise<Project[]> => {
  const names = new Map(entries.map(({ projectId, name }) => [projectId, name]));
  return (await getProjects(names.keys())).filter(({ id, name }) => names.get(id) === name);
};

/** Entries with this name in any case. 1 read. */
const inAnyCase = async (organization: string, name: string): Promise<ProjectName[]> => {
  const { pk, sk } = keys.projectName(organization, name);
  const entries = await query<ProjectName>({ pk, prefix: sk.slice(0, sk.length - name.length) });
  return entries.filter((entry) => foldCase(entry.name) === foldCase(name));
};

/** Names are unique in any case, as in HCP Terraform. Older projects may differ in case only. 1 read. */
const isTaken = async ({ id, organization }: Pick<Project, 'id' | 'organization'>, name: string): Promise<boolean> =>
  (await inAnyCase(organization, name)).some((entry) => entry.name !== name && entry.projectId !== id);

/** Existing projects with these names, in any case. 1 read per name, and the projects. */
export const findProjects = async (organization: string, names: string[]): Promise<Project[]> =>
  named((await Promise.all([...new Set(names)].map((name) => inAnyCase(organization, name)))).flat());

/** Filters of a list of projects; `matches` reads every project. */
export interface ProjectFilter {
  fits?(name: string): boolean;
  matches?(project: Project): boolean;
}

/** Ordered by name. Reads the page, or all entries that a filter has to check. */
export const listProjects = async (
  organization: NameCounts & { name: string },
  paging: Paging,
  { descending, fits, matches }: ProjectFilter & { descending?: boolean } = {},
): Promise<ScanResult<Project>> => {
  const names = { ...namesOf(organization.name), descending };
  if (!fits && !matches) {
    const listed = await pageOfNames<ProjectName>(organization, 'project', names, paging);
    return { ...listed, items: await named(listed.items) };
  }
  const narrow = (entries: ProjectName[]) => (fits ? entries.filter(({ name }) => fits(name)) : entries);
  return findNames(names, { narrow, records: named, fits: matches }, paging);
};

/** All projects, in batches. */
export async function* eachProject(organization: string): AsyncGenerator<Project[]> {
  for await (const entries of eachName<ProjectName>(namesOf(organization))) yield named(entries);
}

/** Undefined when the name is taken. Completes a project whose creation was interrupted. */
export const addProject = async (project: Project): Promise<Project | undefined> => {
  if (await isTaken(project, project.name)) return undefined;
  const name = keys.projectName(project.organization, project.name);
  let { id } = project;
  if (await create({ ...name, projectId: id, name: project.name })) {
    await countNames(project.organization, 'project', 1);
  } else {
    const holder = await get<{ projectId: string }>(name);
    id = holder?.projectId ?? id;
  }
  const added = { ...project, id };
  if (project.defaultAgentPoolId) await usePool(project.defaultAgentPoolId, id);
  return (await create({ ...keys.project(id), ...added })) ? added : undefined;
};

export const createProject = (
  settings: ProjectSettings & Pick<Project, 'organization'>,
): Promise<Project | undefined> => addProject({ ...settings, id: newId('prj'), createdAt: new Date().toISOString() });

/**
 * Undefined when the new name is taken, or the project was deleted or changed since the editor read it.
 * @param editor absent when the platform copies an inherited setting
 */
export const updateProject = async (
  project: Project,
  change: Partial<ProjectSettings>,
  editor?: Editor,
): Promise<Project | undefined> => {
  const renamed = change.name !== undefined && change.name !== project.name;
  if (renamed) {
    if (await isTaken(project, change.name as string)) return undefined;
    const name = keys.projectName(project.organization, change.name as string);
    if (!(await create({ ...name, projectId: project.id, name: change.name }))) return undefined;
  }
  const edit = asEdit({ set: change }, editor);
  const { defaultAgentPoolId: from } = project;
  const to = 'defaultAgentPoolId' in change ? change.defaultAgentPoolId : from;
  const updated = await withPoolUse(project.id, { from, to }, () =>
    updateExisting<Project>(keys.project(project.id), edit),
  );
  if (renamed) {
    await remove(keys.projectName(project.organization, updated ? project.name : (change.name as string)));
    await countNames(project.organization, 'project', 0);
  }
  return updated;
};
