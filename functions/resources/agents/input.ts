import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { agentPoolName } from '#api/names.ts';
import { nameOf } from '#api/naming.ts';
import type { Principal } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import { identifier, readData, setting } from '#api/validation.ts';
import { getProjects } from '#resources/projects/records.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import type { AgentPoolSettings } from './pools/records.ts';

/** Input of agent pools (HCP API: agent pools). */

const otherFields: OtherFields = {
  shown: 'agent-count created-at',
  related: 'agents authentication-tokens organization workspaces',
};

const maxNamed = 500;
const toMany = <T extends string>(type: T) =>
  v.optional(
    v.object({
      data: v.pipe(v.array(identifier(type)), v.maxLength(maxNamed, `may have at most ${maxNamed} entries`)),
    }),
  );

const relationships = {
  'allowed-workspaces': toMany('workspaces'),
  'allowed-projects': toMany('projects'),
  'excluded-workspaces': toMany('workspaces'),
};

const attributes = { 'organization-scoped': setting(v.boolean()) };

interface ScopedRecord {
  id: string;
  organization: string;
}

/** Checks that the ids are in the organization; an id of another organization is reported as unknown. */
const idsOf = async (
  linkage: { data: { id: string }[] } | undefined,
  { organization, relationship, what, read }: Where,
): Promise<string[] | undefined> => {
  if (!linkage) return undefined;
  const ids = [...new Set(linkage.data.map(({ id }) => id))];
  const inOrganization = new Set(
    (await read(ids)).filter((record) => record.organization === organization).map(({ id }) => id),
  );
  const missing = ids.find((id) => !inOrganization.has(id));
  if (missing === undefined) return ids;
  throw unprocessable(
    `/data/relationships/${relationship}`,
    `${relationship}: ${what} ${missing} not found in ${nameOf(organization)}`,
  );
};

interface Where {
  organization: string;
  relationship: keyof typeof relationships;
  what: string;
  read(ids: string[]): Promise<ScopedRecord[]>;
}

/** @throws {ApiError} 400 or 422 */
export const readAgentPoolChange = async (
  request: ApiRequest,
  organization: string,
  principal: Principal,
): Promise<Partial<AgentPoolSettings>> => {
  const input = readData(request, { ...attributes, name: v.optional(agentPoolName) }, relationships, otherFields);
  const visible = async (ids: string[]): Promise<ScopedRecord[]> => {
    const granted = await principal.onWorkspaces(organization, ids);
    return (await getWorkspaces(ids)).filter(({ id }) => granted(id).has('workspace:read'));
  };
  const seenProjects = async (ids: string[]): Promise<ScopedRecord[]> => {
    const granted = await principal.onProjects(organization, ids);
    return (await getProjects(ids)).filter(({ id }) => granted(id).has('project:read'));
  };
  const workspaces = (relationship: 'allowed-workspaces' | 'excluded-workspaces') =>
    idsOf(input.relationships[relationship], { organization, relationship, what: 'workspace', read: visible });
  const projects = idsOf(input.relationships['allowed-projects'], {
    organization,
    relationship: 'allowed-projects',
    what: 'project',
    read: seenProjects,
  });
  const { name, 'organization-scoped': scoped } = input.attributes;
  const change = {
    name,
    organizationScoped: scoped === null ? true : scoped,
    allowedWorkspaceIds: await workspaces('allowed-workspaces'),
    allowedProjectIds: await projects,
    excludedWorkspaceIds: await workspaces('excluded-workspaces'),
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
};

/** @throws {ApiError} 400 or 422 */
export const readNewAgentPool = async (
  request: ApiRequest,
  organization: string,
  principal: Principal,
): Promise<AgentPoolSettings> => {
  const { name, ...change } = await readAgentPoolChange(request, organization, principal);
  if (name === undefined) throw unprocessable('/data/attributes/name', 'name: is missing');
  return {
    organizationScoped: true,
    allowedWorkspaceIds: [],
    allowedProjectIds: [],
    excludedWorkspaceIds: [],
    ...change,
    name,
  };
};
