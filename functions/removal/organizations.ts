import { inBatches } from '#platform/store/batches.ts';
import { dueAttributes, dueIn } from '#platform/store/due.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { get, put, query, queryAll, remove, update } from '#platform/store/table.ts';
import { deleteAgentPool, listAgentPools } from '#resources/agents/pools/records.ts';
import { endAuditExport } from '#resources/audit/export-records.ts';
import { deleteIpAllowlists } from '#resources/ip-allowlists/records.ts';
import { deleteNotificationsOf } from '#resources/notifications/records.ts';
import { endModuleSharing } from '#resources/organizations/module-sharing.ts';
import type { ModuleSharing } from '#resources/organizations/module-sharing-record.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { deletePolicy, getPolicies, listPolicyNames } from '#resources/policies/records.ts';
import { deletePolicySet, getPolicySets, listPolicySetNames } from '#resources/policies/set-records.ts';
import { getProject } from '#resources/projects/records.ts';
import { deleteProviderSet, listProviderSets } from '#resources/provider-sets/records.ts';
import { listModules } from '#resources/registry/modules/records.ts';
import { deleteModule } from '#resources/registry/modules/removal.ts';
import { deleteGpgKey, listGpgKeys } from '#resources/registry/providers/gpg-keys.ts';
import { deleteProvider, listProviders } from '#resources/registry/providers/records.ts';
import { deleteTask, listTasks } from '#resources/run-tasks/records.ts';
import { removeProvisioning } from '#resources/scim/removal.ts';
import { deleteSlackApp } from '#resources/slack/records.ts';
import { deleteSshKey, listSshKeys } from '#resources/ssh-keys/records.ts';
import { deleteReservedTagKey, listReservedTagKeys } from '#resources/tags/reserved-keys/records.ts';
import { deleteTeam, getTeam, listTeamNames } from '#resources/teams/records.ts';
import { closeOrganizationAccounts } from '#resources/users/accounts.ts';
import { listMembers, removeMember } from '#resources/users/memberships.ts';
import { deleteTokensOf } from '#resources/users/tokens.ts';
import { eachVariableSet } from '#resources/variables/set-lists.ts';
import { deleteVariableSet } from '#resources/variables/set-records.ts';
import { type NameItem, namesOf, releaseName } from '#resources/workspaces/names.ts';
import { getWorkspace } from '#resources/workspaces/records.ts';
import { listClients } from '#version-control/connections.ts';
import { endClient } from '#version-control/end.ts';
import { listInstallations, unlinkInstallation } from '#version-control/github-app/installations.ts';
import { deleteWorkspace, endRecovery } from './workspaces.ts';

/**
 * Deletion of an organization. One conditional write replaces it by a marker that stays: the name is never reused, so
 * no record with this name can belong to another organization. Next, its memberships and tokens end, and with them
 * all access; then its contents are deleted. The sweep continues an interrupted deletion, and has its templates and
 * environments removed.
 */

type Home = Pick<Organization, 'name' | 'externalId' | 'names'> & ModuleSharing;
type Ended = Home & Key & { deletedAt: string; deletedBy?: string };

/** Parallel deletions, and workspaces per pass: an organization may have thousands of members. */
const atOnce = 20;

/** Deletes an organization with all its contents. Can be repeated. */
export const deleteOrganization = async (home: Home, deletedBy: string): Promise<void> => {
  const { name, externalId, names, globalModuleSharing, moduleConsumers, moduleProducers } = home;
  const deletedAt = new Date().toISOString();
  const sharing: ModuleSharing = { globalModuleSharing, moduleConsumers, moduleProducers };
  const ended: Ended = { ...keys.organization(name), name, externalId, names, ...sharing, deletedAt, deletedBy };
  await put(
    { ...ended, ...dueIn(name, 60) },
    { condition: 'externalId = :id AND attribute_not_exists(deletedAt)', values: { ':id': externalId } },
  );
  await completeEnd(name);
};

/**
 * Continues the deletion of an organization. False when the organization is not marked as deleted.
 * @param maxWorkspaces number of workspaces to delete now, at some twenty requests each; the sweep deletes the others
 */
export const completeEnd = async (name: string, maxWorkspaces = atOnce): Promise<boolean> => {
  const home = await get<Ended>(keys.organization(name));
  if (!home?.deletedAt) return false;
  await closeOrganizationAccounts(home);
  await removeProvisioning(home);
  await deleteSlackApp(home);
  // The index is removed last, so that an interrupted deletion finds the remaining members.
  await inBatches(await listMembers(name), (userId) => removeMember({ organization: name, userId }));
  if (await deleteWorkspaces(home, maxWorkspaces)) {
    await update(keys.organization(name), { set: dueIn(name, 0), condition: 'attribute_exists(deletedAt)' });
    return true;
  }
  const recoverable = await queryAll<{ workspaceId: string }>({ pk: keys.organization(name).pk, prefix: 'DELETED#' });
  await inBatches(recoverable, ({ workspaceId }) => endRecovery(workspaceId));
  for (const { id, name: teamName } of await listTeamNames(name)) {
    const { ssoTeamId = null, notifications, scim } = (await getTeam(id)) ?? {};
    await deleteTeam({ id, organization: name, name: teamName, ssoTeamId, notifications, scim });
  }
  const pools = await listAgentPools(name);
  for (const { id } of pools) await deleteTokensOf(id);
  await deleteSettings(name);
  await endModuleSharing(name, home);
  await endEnvironments(name);
  for (const given of home.names ?? []) await remove(keys.renamedOrganization(given));
  // The sweep deletes a pool that was in use a moment ago.
  let isRest = false;
  for (const pool of pools) isRest = !(await deleteAgentPool(pool)) || isRest;
  await update(keys.organization(name), {
    ...(isRest
      ? { set: dueIn(name, 60) }
      : { remove: [...dueAttributes, 'names', 'globalModuleSharing', 'moduleConsumers', 'moduleProducers'] }),
    condition: 'attribute_exists(deletedAt)',
  });
  return true;
};

/** True when more workspaces remain. A name without a workspace is left from an earlier deletion. */
const deleteWorkspaces = async ({ name, deletedBy: by = '' }: Ended, max: number): Promise<boolean> => {
  const entries = await query<NameItem>({ ...namesOf(name), limit: max + 1 });
  await inBatches(entries.slice(0, max), async ({ name: workspaceName, workspaceId }) => {
    const workspace = await getWorkspace(workspaceId);
    if (workspace) await deleteWorkspace(workspace, { by, force: true });
    await releaseName(name, workspaceName, workspaceId);
  });
  return entries.length > max;
};

/** Templates and environments are removed in a wing above this one; there are some only if their items exist. */
const endEnvironments = async (name: string): Promise<void> => {
  const { pk } = keys.organization(name);
  const items = await Promise.all(['ENV', 'TPL'].map((prefix) => query<Key>({ pk, prefix, limit: 1 })));
  if (items.flat().length) await put({ ...keys.environmentsEnd(name), ...dueIn(name, 0) });
};

const deleteSettings = async (name: string): Promise<void> => {
  const idsOf = (entries: { id: string }[]) => entries.map(({ id }) => id);
  for (const set of await getPolicySets(idsOf(await listPolicySetNames(name)))) await deletePolicySet(set);
  for (const policy of await getPolicies(idsOf(await listPolicyNames(name)))) await deletePolicy(policy);
  for (const task of await listTasks(name)) await deleteTask(task);
  for (const client of await listClients(name)) await endClient(client);
  for (const installation of await listInstallations(name)) await unlinkInstallation(installation);
  await inBatches(await listSshKeys(name), deleteSshKey);
  await inBatches(await listReservedTagKeys(name), deleteReservedTagKey);
  await inBatches(await listProviderSets(name), deleteProviderSet);
  await deleteIpAllowlists(name);
  await endAuditExport(name);
  await inBatches(await listModules(name), deleteModule);
  await inBatches(await listProviders(name), deleteProvider);
  await inBatches(await listGpgKeys(name), deleteGpgKey);
  for await (const sets of eachVariableSet(name)) await inBatches(sets, deleteVariableSet);
  const { pk } = keys.organization(name);
  const projects = await queryAll<Key & { projectId: string }>({ pk, prefix: 'PROJECT#' });
  await inBatches(projects, async ({ sk, projectId }) => {
    await deleteNotificationsOf((await getProject(projectId))?.notifications ?? []);
    await remove(keys.project(projectId));
    await remove({ pk, sk });
  });
  for (const prefix of ['EMAILRECIPIENT#', 'EXPLORERVIEW#', 'SLACKUSER#'])
    await inBatches(await queryAll<Key>({ pk, prefix }), ({ sk }) => remove({ pk, sk }));
  await remove(keys.organizationRetention(name));
  // Removes pointers of tokens whose deletion was interrupted.
  await inBatches(await queryAll<Key>({ pk, prefix: 'TEAMTOKEN#' }), ({ sk }) => remove({ pk, sk }));
};
