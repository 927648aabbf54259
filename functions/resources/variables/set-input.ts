import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import { noStacks, type OtherFields } from '#api/known-attributes.ts';
import { isNamed, nameOf } from '#api/naming.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, readWhole, setting, settingsFrom, text, toOne } from '#api/validation.ts';
import { inProjectOf } from '#resources/projects/finder.ts';
import { getProject, getProjects } from '#resources/projects/records.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { newVariable, newVariableOf } from './input.ts';
import type { variableSetAttributes } from './set-attributes.ts';
import { maxOf, type VariableSet } from './set-records.ts';

/** Input of variable sets and their assignment (HCP API: variable sets). */

const otherFields: OtherFields = {
  shown: 'created-at permissions project-count stack-count updated-at var-count workspace-count',
  related: 'organization vars parent',
  lacking: { stacks: noStacks },
};

const name = v.pipe(text(90), v.regex(/^\S(.*\S)?$/, 'must not be empty, or begin or end with a space'));

const settings = {
  description: setting(text(512)),
  global: setting(v.boolean()),
  priority: setting(v.boolean()),
} satisfies Record<Exclude<keyof typeof variableSetAttributes, 'name'>, unknown>;

export type Kind = 'workspaces' | 'projects';
export const kinds: readonly Kind[] = ['workspaces', 'projects'];
export const idsOf = { workspaces: 'workspaceIds', projects: 'projectIds' } as const;

const toMany = (type: Kind) =>
  v.object({
    data: v.pipe(v.array(identifier(type)), v.maxLength(maxOf[idsOf[type]], `may have at most ${maxOf[idsOf[type]]}`)),
  });

const relationships = {
  parent: v.optional(toOne('projects', 'organizations')),
  workspaces: v.optional(toMany('workspaces')),
  projects: v.optional(toMany('projects')),
};

/** A new set can contain variables. */
const withVariables = {
  ...relationships,
  vars: v.optional(
    v.object({
      data: v.pipe(v.array(v.object({ attributes: newVariable })), v.maxLength(100, 'may have at most 100 at once')),
    }),
  ),
};

/** Ids of a list of identifiers, without duplicates. */
const distinct = (data: { id: string }[]): string[] => [...new Set(data.map(({ id }) => id))];

/** A set applies only to targets in its organization, and in its project if one owns it. */
const checkTargets = async (
  set: Pick<VariableSet, 'organization' | 'projectId' | 'global'>,
  kind: Kind,
  ids: string[],
  pointer: string,
): Promise<void> => {
  if (set.global && ids.length) {
    throw unprocessable(pointer, `${kind}: a global variable set already applies to every workspace`);
  }
  const existing =
    kind === 'workspaces'
      ? (await getWorkspaces(ids)).map((workspace) => ({ ...workspace, home: workspace.projectId }))
      : (await getProjects(ids)).map((project) => ({ ...project, home: project.id }));
  const fits = new Set(
    existing
      .filter((target) => target.organization === set.organization && (!set.projectId || target.home === set.projectId))
      .map(({ id }) => id),
  );
  const missing = ids.find((id) => !fits.has(id));
  if (missing !== undefined) {
    const where = set.projectId ? `project ${set.projectId}` : `organization ${nameOf(set.organization)}`;
    throw unprocessable(pointer, `${kind}: ${missing.slice(0, 100)} not found in ${where}`);
  }
};

type Parent = { type: 'projects' | 'organizations'; id: string } | null | undefined;

const parentOf = async (organizationName: string, parent: Parent) => {
  if (!parent) return undefined;
  if (parent.type === 'organizations' && isNamed(organizationName, parent.id)) return undefined;
  const project = parent.type === 'projects' ? await getProject(parent.id) : undefined;
  if (project?.organization === organizationName) return project.id;
  throw unprocessable(
    '/data/relationships/parent',
    `parent: ${parent.id} is neither ${nameOf(organizationName)} nor a project in it`,
  );
};

/** The organization of a new set. If the body names an owning project, the caller needs permission on that project. */
export const newVariableSet = inProjectOf('parent', ['projects', 'organizations']);

const globalPointer = '/data/attributes/global';
const notGlobal = () => unprocessable(globalPointer, 'global: a variable set owned by a project cannot be global');

export interface Targets {
  kind: Kind;
  ids: string[];
}

const targetsOf = async (
  set: Pick<VariableSet, 'organization' | 'projectId' | 'global'>,
  related: Partial<Record<Kind, { data: { id: string }[] }>>,
): Promise<Targets[]> => {
  const targets = kinds.flatMap((kind) => {
    const relationship = related[kind];
    return relationship ? [{ kind, ids: distinct(relationship.data) }] : [];
  });
  for (const { kind, ids } of targets) await checkTargets(set, kind, ids, `/data/relationships/${kind}`);
  return targets;
};

/** @throws {ApiError} 400 or 422 */
export const readNewVariableSet = async (request: ApiRequest, organization: string) => {
  const { attributes, relationships: related } = readData(request, { ...settings, name }, withVariables, otherFields);
  const projectId = await parentOf(organization, related.parent?.data);
  const global = attributes.global ?? false;
  if (global && projectId) throw notGlobal();
  const set = {
    organization,
    projectId,
    global,
    name: attributes.name,
    description: attributes.description ?? null,
    priority: attributes.priority ?? false,
  };
  const variables = (related.vars?.data ?? []).map((variable, i) =>
    newVariableOf(variable.attributes, `/data/relationships/vars/data/${i}/attributes`),
  );
  return { set, variables, targets: await targetsOf(set, related) };
};

/** @throws {ApiError} 400 or 422 */
export const readVariableSetChange = async (request: ApiRequest, set: VariableSet) => {
  const { attributes, relationships: related } = readData(
    request,
    { ...settings, name: v.optional(name) },
    relationships,
    otherFields,
  );
  const { parent } = related;
  if (parent && (parent.data?.id ?? set.organization) !== (set.projectId ?? set.organization)) {
    throw unprocessable('/data/relationships/parent', 'parent: cannot be changed; create another variable set');
  }
  const defaults = { name: set.name, description: null, global: false, priority: false };
  const change = settingsFrom(attributes, defaults);
  if (change.global && set.projectId) throw notGlobal();
  return { change, targets: await targetsOf({ ...set, ...change }, related) };
};

/** The ids in a body that applies or removes the set. @throws {ApiError} 400 or 422 */
export const readTargets = async (request: ApiRequest, set: VariableSet, kind: Kind, applies: boolean) => {
  const ids = distinct(readWhole(request, toMany(kind)).data);
  if (applies) await checkTargets(set, kind, ids, '/data');
  return ids;
};
