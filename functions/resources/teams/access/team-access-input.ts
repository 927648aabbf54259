import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import {
  type ProjectGrant,
  projectLevels,
  type WorkspaceGrant,
  type WorkspaceParts,
  workspaceLevels,
} from '#api/permissions/team-access.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData } from '#api/validation.ts';
import { partsOfProject, partsOfWorkspace } from './team-access-document.ts';

/** Input of team access to workspaces and projects (HCP API: team access, project team access). */

const workspaceFields: OtherFields = { shown: 'permissions', related: 'team workspace' };

const projectFields: OtherFields = { shown: 'permissions', related: 'team project' };

const ofWorkspaces = {
  runs: v.nullish(v.picklist(['read', 'plan', 'apply'])),
  variables: v.nullish(v.picklist(['none', 'read', 'write'])),
  'state-versions': v.nullish(v.picklist(['none', 'read-outputs', 'read', 'write'])),
  'sentinel-mocks': v.nullish(v.picklist(['none', 'read'])),
  'run-tasks': v.nullish(v.boolean()),
  'policy-overrides': v.nullish(v.boolean()),
};

const onWorkspace = { ...ofWorkspaces, 'workspace-locking': v.nullish(v.boolean()) };

const onProject = {
  'project-access': v.nullish(
    v.object({
      settings: v.nullish(v.picklist(['read', 'update', 'delete'])),
      teams: v.nullish(v.picklist(['none', 'read', 'manage'])),
      'variable-sets': v.nullish(v.picklist(['none', 'read', 'write'])),
    }),
  ),
  'workspace-access': v.nullish(
    v.object({
      ...ofWorkspaces,
      create: v.nullish(v.boolean()),
      move: v.nullish(v.boolean()),
      delete: v.nullish(v.boolean()),
      locking: v.nullish(v.boolean()),
    }),
  ),
};

const team = v.object({ data: identifier('teams') });

type Parts = Record<string, unknown>;
type Nullish<T> = { [K in keyof T]?: T[K] | null };

/** A fixed level determines every part. A custom level takes the given parts, then the previous ones. */
const partsFrom = <P extends object>(access: string, before: P, changes: Nullish<P>, pointer: string): P => {
  const parts = { ...before } as Parts;
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || !(name in before) || parts[name] === value) continue;
    if (access !== 'custom') {
      const part = `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;
      // Clients match these words.
      const why = `${part} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`;
      throw unprocessable(`${pointer}/${name}`, why);
    }
    parts[name] = value;
  }
  return parts as P;
};

const pointer = '/data/attributes';

type Access = WorkspaceGrant['access'];

const workspaceGrant = (
  access: Access,
  before: Partial<WorkspaceGrant>,
  { 'policy-overrides': overrides, ...rest }: Nullish<WorkspaceParts> & { 'policy-overrides'?: boolean | null },
): Omit<WorkspaceGrant, 'id'> => {
  const base = partsOfWorkspace(access === 'custom' ? goneOnFrom(before) : { access });
  const parts = partsFrom(access, base, rest, pointer);
  return withParts(access, parts, overrides ?? before.overrides);
};

/** Parts from which a custom level starts: the previous ones, or the lowest of each. */
const goneOnFrom = <G extends { access: string; parts?: unknown }>({ access, parts }: Partial<G>) =>
  ({ access: access ?? 'custom', parts }) as Pick<G, 'access' | 'parts'>;

const withParts = <A extends string, P>(access: A, parts: P, overrides: boolean | undefined) => ({
  access,
  ...(access === 'custom' ? { parts } : {}),
  ...(overrides ? { overrides } : {}),
});

const projectGrant = (
  access: ProjectGrant['access'],
  before: Partial<ProjectGrant>,
  attributes: v.InferOutput<v.ObjectSchema<typeof onProject, undefined>>,
): Omit<ProjectGrant, 'id'> => {
  const base = partsOfProject(access === 'custom' ? goneOnFrom(before) : { access });
  const { 'policy-overrides': overrides, locking, ...rest } = attributes['workspace-access'] ?? {};
  const inProject = { ...attributes['project-access'], create: rest.create, move: rest.move, delete: rest.delete };
  const { workspaces: ofWorkspacesBefore, ...ofProjectBefore } = base;
  const workspaces = partsFrom(
    access,
    ofWorkspacesBefore,
    { ...rest, 'workspace-locking': locking },
    `${pointer}/workspace-access`,
  );
  const project = partsFrom(access, ofProjectBefore, inProject, `${pointer}/project-access`);
  return withParts(access, { ...project, workspaces }, overrides ?? before.overrides);
};

const newOnWorkspace = { access: v.picklist(workspaceLevels), ...onWorkspace };
const newOnProject = { access: v.picklist(projectLevels), ...onProject };

/** @throws {ApiError} 400 or 422 */
export const readNewWorkspaceGrant = (request: ApiRequest) => {
  const { attributes, relationships } = readData(request, newOnWorkspace, { team }, workspaceFields);
  const { access, ...parts } = attributes;
  return { teamId: relationships.team.data.id, grant: workspaceGrant(access, {}, parts) };
};

/** @throws {ApiError} 400 or 422 */
export const readWorkspaceGrantChange = (request: ApiRequest, before: WorkspaceGrant): WorkspaceGrant => {
  const schema = { ...newOnWorkspace, access: v.nullish(newOnWorkspace.access) };
  const { access, ...parts } = readData(request, schema, {}, workspaceFields).attributes;
  return { id: before.id, ...workspaceGrant(access ?? before.access, before, parts) };
};

/** @throws {ApiError} 400 or 422 */
export const readNewProjectGrant = (request: ApiRequest) => {
  const { attributes, relationships } = readData(request, newOnProject, { team }, projectFields);
  const { access, ...parts } = attributes;
  return { teamId: relationships.team.data.id, grant: projectGrant(access, {}, parts) };
};

/** @throws {ApiError} 400 or 422 */
export const readProjectGrantChange = (request: ApiRequest, before: ProjectGrant): ProjectGrant => {
  const schema = { ...newOnProject, access: v.nullish(newOnProject.access) };
  const { access, ...parts } = readData(request, schema, {}, projectFields).attributes;
  return { id: before.id, ...projectGrant(access ?? before.access, before, parts) };
};
