import { deleteAgentPool, listAgentPools } from '../agents/agent-pools.ts';
import { changingPool } from '../agents/pool-uses.ts';
import { asEdit, type Edited, type Editor } from '../edits.ts';
import { newId } from '../id.ts';
import { type Key, keys } from '../keys.ts';
import type { NameCounts } from '../name-index.ts';
import { deleteTask, listTasks } from '../run-tasks/tasks.ts';
import { batchGet, create, get, query, remove, update } from '../table.ts';
import { addProject, eachProject } from '../workspaces/projects.ts';
import { eachVariableSet } from '../workspaces/variable-set-lists.ts';
import { deleteVariableSet } from '../workspaces/variable-sets.ts';
import type { ExecutionMode } from '../workspaces/workspaces.ts';
import { closeOrganizationAccounts } from './accounts.ts';
import { addMember, getMembership, membershipsIn, membershipsOf, removeMember } from './memberships.ts';
import { deleteTeam, ensureOwnersTeam, listTeams } from './teams.ts';

export interface OrganizationSettings {
  email: string;
  /** Minutes; null = the platform's own. */
  sessionTimeout: number | null;
  sessionRemember: number | null;
  collaboratorAuthPolicy: 'password' | 'two_factor_mandatory';
  costEstimationEnabled: boolean;
  sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  aggregatedCommitStatusEnabled: boolean;
  speculativePlanManagementEnabled: boolean;
  allowForceDeleteWorkspaces: boolean;
  assessmentsEnforced: boolean;
  defaultExecutionMode: ExecutionMode;
  /** With execution mode `agent`, and then only. Absent in what was stored before there was this. */
  defaultAgentPoolId?: string | null;
  /** As `1h30m`; null = the platform's own. Absent in what was stored before there was this. */
  terraformBuildWorkerPlanTimeout?: string | null;
  terraformBuildWorkerApplyTimeout?: string | null;
}

export const defaultOrganizationSettings: Omit<OrganizationSettings, 'email'> = {
  sessionTimeout: null,
  sessionRemember: null,
  collaboratorAuthPolicy: 'password',
  costEstimationEnabled: false,
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  aggregatedCommitStatusEnabled: true,
  speculativePlanManagementEnabled: true,
  allowForceDeleteWorkspaces: false,
  assessmentsEnforced: false,
  defaultExecutionMode: 'remote',
  defaultAgentPoolId: null,
  terraformBuildWorkerPlanTimeout: null,
  terraformBuildWorkerApplyTimeout: null,
};

export interface Organization extends OrganizationSettings, NameCounts, Edited {
  /** Its id in the API. It cannot be changed: every record names it. */
  name: string;
  /** `org-…`. */
  externalId: string;
  createdAt: string;
  createdBy: string;
  defaultProjectId: string;
}

export const getOrganization = (name: string): Promise<Organization | undefined> =>
  get<Organization>(keys.organization(name));

/**
 * Creates it with its default project and `createdBy` as owner. Undefined when the name is taken; a creator who was
 * cut off may repeat it.
 */
export const createOrganization = async (
  name: string,
  settings: OrganizationSettings,
  createdBy: string,
): Promise<Organization | undefined> => {
  const wanted: Organization = {
    ...settings,
    name,
    externalId: newId('org'),
    createdAt: new Date().toISOString(),
    createdBy,
    defaultProjectId: newId('prj'),
  };
  const created = await create({ ...keys.organization(name), ...wanted });
  const organization = created ? wanted : await getOrganization(name);
  if (!organization || organization.createdBy !== createdBy) return undefined;
  if (!created && (await getMembership(createdBy, name))) return undefined;
  await addProject({
    id: organization.defaultProjectId,
    organization: name,
    name: 'Default Project',
    description: null,
    createdAt: organization.createdAt,
    defaultExecutionMode: organization.defaultExecutionMode,
  });
  await addMember(name, createdBy, 'owner');
  await ensureOwnersTeam(organization);
  return organization;
};

/** Undefined when it is gone, or is not as the editor has seen it. */
export const updateOrganization = (
  { name, defaultAgentPoolId: from }: Organization,
  change: Partial<OrganizationSettings>,
  editor: Editor,
): Promise<Organization | undefined> => {
  const to = 'defaultAgentPoolId' in change ? change.defaultAgentPoolId : from;
  const edit = asEdit({ set: change, condition: 'attribute_exists(pk)' }, editor);
  return changingPool(name, { from, to }, () => update<Organization>(keys.organization(name), edit));
};

/** Those the user belongs to, in the order of names. */
export const listOrganizations = async (userId: string): Promise<Organization[]> => {
  const memberships = await membershipsOf(userId);
  return batchGet<Organization & Key>(memberships.map(({ organization }) => keys.organization(organization)));
};

export const hasWorkspaces = async (organization: string): Promise<boolean> =>
  (await query({ pk: keys.organization(organization).pk, prefix: 'WSNAME#', limit: 1 })).length > 0;

/** Deletes an organization without workspaces: memberships and projects, then itself. May be repeated. */
export const deleteOrganization = async (name: string): Promise<void> => {
  for await (const projects of eachProject(name)) {
    for (const { id, name: projectName } of projects) {
      await remove(keys.project(id));
      await remove(keys.projectName(name, projectName));
    }
  }
  for await (const sets of eachVariableSet(name)) {
    for (const set of sets) await deleteVariableSet(set);
  }
  for (const task of await listTasks(name)) await deleteTask(task);
  for (const pool of await listAgentPools(name)) await deleteAgentPool(pool);
  const members = await membershipsIn(name);
  const teams = await listTeams(name);
  const home = await getOrganization(name);
  if (home) await closeOrganizationAccounts(home);
  await remove(keys.organization(name));
  for (const membership of members) await removeMember(membership);
  for (const team of teams) await deleteTeam(team);
};
