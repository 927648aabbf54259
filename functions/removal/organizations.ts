import { deleteAgentPool, listAgentPools } from '../agent-pools/records.ts';
import { deleteIpAllowlists } from '../ip-allowlists/records.ts';
import { deleteNotificationsOf } from '../notifications/records.ts';
import { closeOrganizationAccounts } from '../people/accounts/accounts.ts';
import { listMembers, removeMember } from '../people/accounts/memberships.ts';
import { deleteTokensOf } from '../people/accounts/tokens.ts';
import type { Organization } from '../people/organizations/records.ts';
import { deleteTeam, getTeam, listTeamNames } from '../people/teams/records.ts';
import { deletePolicy, getPolicies, listPolicyNames } from '../policies/records.ts';
import { deletePolicySet, getPolicySets, listPolicySetNames } from '../policies/set-records.ts';
import { getProject } from '../projects/records.ts';
import { deleteProviderSet, listProviderSets } from '../provider-sets/records.ts';
import { deleteWorkspace, endRecovery } from '../removal/workspaces.ts';
import { deleteReservedTagKey, listReservedTagKeys } from '../reserved-tag-keys/records.ts';
import { deleteTask, listTasks } from '../run-tasks/records.ts';
import { deleteSshKey, listSshKeys } from '../ssh-keys/records.ts';
import { inBatches } from '../store/batches.ts';
import { dueAttributes, dueIn } from '../store/due.ts';
import { type Key, keys } from '../store/keys.ts';
import { get, put, query, queryAll, remove, update } from '../store/table.ts';
import { eachVariableSet } from '../variables/set-lists.ts';
import { deleteVariableSet } from '../variables/set-records.ts';
import { listClients } from '../version-control/connections.ts';
import { endClient } from '../version-control/end.ts';
import { listInstallations, unlinkInstallation } from '../version-control/github-app/installations.ts';
import { type NameItem, namesOf, releaseName } from '../workspaces/names.ts';
import { getWorkspace } from '../workspaces/records.ts';

/**
 * The end of an organization. One conditional write puts a mark in its place, which stays: the name is never given again,
 * so nothing that bears it is ever anybody else's. Then its memberships and tokens end, by which anybody reaches what it
 * had, and then what it had. The sweep goes on where that was cut off.
 */

type Home = Pick<Organization, 'name' | 'externalId'>;
type Ended = Home & Key & { deletedAt: string; deletedBy?: string };

/** Parallel deletions: an organization may have thousands of members. */
const atOnce = 20;

/** Deletes an organization with all it has. May be repeated. */
export const deleteOrganization = async ({ name, externalId }: Home, deletedBy: string): Promise<void> => {
  const deletedAt = new Date().toISOString();
  const ended: Ended = { ...keys.organization(name), name, externalId, deletedAt, deletedBy };
  await put(
    { ...ended, ...dueIn(name, 60) },
    { condition: 'externalId = :id AND attribute_not_exists(deletedAt)', values: { ':id': externalId } },
  );
  await completeEnd(name);
};

/**
 * Ends what is left of an organization that was deleted. False when it was not.
 * @param maxWorkspaces are deleted now, the others by the sweep: each takes some twenty requests
 */
export const completeEnd = async (name: string, maxWorkspaces = 20): Promise<boolean> => {
  const home = await get<Ended>(keys.organization(name));
  if (!home?.deletedAt) return false;
  await closeOrganizationAccounts(home);
  // By the index, which goes last: the rest of one that was cut off is found by it.
  await inBatches(await listMembers(name), atOnce, (userId) => removeMember({ organization: name, userId }));
  if (await deleteWorkspaces(home, maxWorkspaces)) {
    await update(keys.organization(name), { set: dueIn(name, 0), condition: 'attribute_exists(deletedAt)' });
    return true;
  }
  const recoverable = await queryAll<{ workspaceId: string }>({ pk: keys.organization(name).pk, prefix: 'DELETED#' });
  await inBatches(recoverable, atOnce, ({ workspaceId }) => endRecovery(workspaceId));
  for (const { id, name: teamName } of await listTeamNames(name)) {
    const { ssoTeamId = null, notifications } = (await getTeam(id)) ?? {};
    await deleteTeam({ id, organization: name, name: teamName, ssoTeamId, notifications });
  }
  const pools = await listAgentPools(name);
  for (const { id } of pools) await deleteTokensOf(id);
  await deleteSettings(name);
  // One that was used a moment ago is for the sweep to delete.
  let isRest = false;
  for (const pool of pools) isRest = !(await deleteAgentPool(pool)) || isRest;
  await update(keys.organization(name), {
    ...(isRest ? { set: dueIn(name, 60) } : { remove: dueAttributes }),
    condition: 'attribute_exists(deletedAt)',
  });
  return true;
};

/** True when there are more. What their names no longer belong to was deleted before. */
const deleteWorkspaces = async ({ name, deletedBy: by = '' }: Ended, max: number): Promise<boolean> => {
  const entries = await query<NameItem>({ ...namesOf(name), limit: max + 1 });
  await inBatches(entries.slice(0, max), atOnce, async ({ name: workspaceName, workspaceId }) => {
    const workspace = await getWorkspace(workspaceId);
    if (workspace) await deleteWorkspace(workspace, { by, force: true });
    await releaseName(name, workspaceName, workspaceId);
  });
  return entries.length > max;
};

const deleteSettings = async (name: string): Promise<void> => {
  const idsOf = (entries: { id: string }[]) => entries.map(({ id }) => id);
  for (const set of await getPolicySets(idsOf(await listPolicySetNames(name)))) await deletePolicySet(set);
  for (const policy of await getPolicies(idsOf(await listPolicyNames(name)))) await deletePolicy(policy);
  for (const task of await listTasks(name)) await deleteTask(task);
  for (const client of await listClients(name)) await endClient(client);
  for (const installation of await listInstallations(name)) await unlinkInstallation(installation);
  await inBatches(await listSshKeys(name), atOnce, deleteSshKey);
  await inBatches(await listReservedTagKeys(name), atOnce, deleteReservedTagKey);
  await inBatches(await listProviderSets(name), atOnce, deleteProviderSet);
  await deleteIpAllowlists(name);
  for await (const sets of eachVariableSet(name)) await inBatches(sets, atOnce, deleteVariableSet);
  const { pk } = keys.organization(name);
  const projects = await queryAll<Key & { projectId: string }>({ pk, prefix: 'PROJECT#' });
  await inBatches(projects, atOnce, async ({ sk, projectId }) => {
    await deleteNotificationsOf((await getProject(projectId))?.notifications ?? []);
    await remove(keys.project(projectId));
    await remove({ pk, sk });
  });
  await inBatches(await queryAll<Key>({ pk, prefix: 'EMAILRECIPIENT#' }), atOnce, ({ sk }) => remove({ pk, sk }));
  await remove(keys.organizationRetention(name));
  // Of tokens whose deletion was cut off.
  await inBatches(await queryAll<Key>({ pk, prefix: 'TEAMTOKEN#' }), atOnce, ({ sk }) => remove({ pk, sk }));
};
