import { newId } from './id.ts';
import { type Key, keys } from './keys.ts';
import { batchGet, create, get, queryAll, remove, update } from './table.ts';
import { deleteVariableSet, getVariableSets, leaveVariableSets, listVariableSetNames } from './variable-sets.ts';
import type { Tag } from './workspace-names.ts';

export interface Project {
  id: string;
  organization: string;
  name: string;
  description: string | null;
  createdAt: string;
  /** What its workspaces run like unless they say otherwise; its own copy where it is the organization's. */
  defaultExecutionMode?: 'remote' | 'local';
  /** Absent: it does. */
  inheritsExecutionMode?: boolean;
  /** By key, each once; its workspaces have them too. */
  tags?: Tag[];
}

export type ProjectSettings = Pick<
  Project,
  'name' | 'description' | 'defaultExecutionMode' | 'inheritsExecutionMode' | 'tags'
>;

export const getProject = (id: string): Promise<Project | undefined> => get<Project>(keys.project(id));

/** In the order of the ids; missing ones are left out. */
export const getProjects = async (ids: string[]): Promise<Project[]> => {
  const found: Project[] = [];
  for (let i = 0; i < ids.length; i += 100) {
    found.push(...(await batchGet<Project & Key>(ids.slice(i, i + 100).map(keys.project))));
  }
  return found;
};

/** In the order of names; only those with one of the names, if any are given. */
export const listProjects = async (organization: string, names?: string[]): Promise<Project[]> => {
  const entries = await queryAll<{ sk: string; projectId: string }>({ pk: `ORG#${organization}`, prefix: 'PROJECT#' });
  const wanted = entries.filter(({ sk }) => !names || names.includes(sk.slice('PROJECT#'.length)));
  return getProjects(wanted.map(({ projectId }) => projectId));
};

/** Undefined when the name is taken. A project whose creator died before it was there is completed. */
export const addProject = async (project: Project): Promise<Project | undefined> => {
  const name = keys.projectName(project.organization, project.name);
  let { id } = project;
  if (!(await create({ ...name, projectId: id }))) {
    const holder = await get<{ projectId: string }>(name);
    id = holder?.projectId ?? id;
  }
  const added = { ...project, id };
  return (await create({ ...keys.project(id), ...added })) ? added : undefined;
};

export const createProject = (given: ProjectSettings & Pick<Project, 'organization'>): Promise<Project | undefined> =>
  addProject({ ...given, id: newId('prj'), createdAt: new Date().toISOString() });

/** Undefined when the new name is taken. */
export const updateProject = async (
  project: Project,
  change: Partial<ProjectSettings>,
): Promise<Project | undefined> => {
  const renamed = change.name !== undefined && change.name !== project.name;
  if (renamed) {
    const name = keys.projectName(project.organization, change.name as string);
    if (!(await create({ ...name, projectId: project.id }))) return undefined;
  }
  const updated = await update<Project>(keys.project(project.id), { set: change, condition: 'attribute_exists(pk)' });
  if (renamed) await remove(keys.projectName(project.organization, project.name));
  return updated;
};

/** With the variable sets it owns. */
export const deleteProject = async (project: Project): Promise<void> => {
  await leaveVariableSets('projectIds', project.id);
  const owned = (await listVariableSetNames(project.organization)).filter(({ projectId }) => projectId === project.id);
  for (const set of await getVariableSets(owned.map(({ id }) => id))) await deleteVariableSet(set);
  await remove(keys.projectName(project.organization, project.name));
  await remove(keys.project(project.id));
};
