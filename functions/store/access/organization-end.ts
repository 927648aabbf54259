import { deleteAgentPool, listAgentPools } from '../agents/agent-pools.ts';
import { dueIn, notDue } from '../due.ts';
import { type Key, keys } from '../keys.ts';
import { deletePolicy, getPolicies, listPolicyNames } from '../policies/policies.ts';
import { deletePolicySet, getPolicySets, listPolicySetNames } from '../policies/policy-sets.ts';
import { deleteTask, listTasks } from '../run-tasks/tasks.ts';
import { get, put, remove, update } from '../table.ts';
import { eachProject } from '../workspaces/projects.ts';
import { eachVariableSet } from '../workspaces/variable-set-lists.ts';
import { deleteVariableSet } from '../workspaces/variable-sets.ts';
import { closeOrganizationAccounts } from './accounts.ts';
import { membershipsIn, removeMember } from './memberships.ts';
import type { Organization } from './organizations.ts';
import { deleteTeam, listTeams } from './teams.ts';
import { deleteTokensOf } from './tokens.ts';

/**
 * The end of an organization. One conditional write puts a mark in its place, which stays: the name is never given again,
 * so nothing that bears it is ever anybody else's. Then its memberships and tokens end, by which anybody reaches what it
 * had, and then what it had. The sweep goes on where that was cut off.
 */

type Home = Pick<Organization, 'name' | 'externalId'>;
type Ended = Home & Key & { deletedAt: string };

/** Deletes an organization without workspaces. May be repeated. */
export const deleteOrganization = async ({ name, externalId }: Home): Promise<void> => {
  const deletedAt = new Date().toISOString();
  const ended: Ended = { ...keys.organization(name), name, externalId, deletedAt };
  await put(
    { ...ended, ...dueIn(name, 60) },
    { condition: 'externalId = :id AND attribute_not_exists(deletedAt)', values: { ':id': externalId } },
  );
  await completeEnd(name);
};

/** Ends what is left of an organization that was deleted. False when it was not. */
export const completeEnd = async (name: string): Promise<boolean> => {
  const home = await get<Ended>(keys.organization(name));
  if (!home?.deletedAt) return false;
  await closeOrganizationAccounts(home);
  await inPieces(await membershipsIn(name), removeMember);
  for (const team of await listTeams(name)) await deleteTeam(team);
  const pools = await listAgentPools(name);
  for (const { id } of pools) await deleteTokensOf(id);
  await deleteSettings(name);
  // One that was used a moment ago is for the sweep to delete.
  let isRest = false;
  for (const pool of pools) isRest = !(await deleteAgentPool(pool)) || isRest;
  await update(keys.organization(name), {
    ...(isRest ? { set: dueIn(name, 60) } : { remove: notDue }),
    condition: 'attribute_exists(deletedAt)',
  });
  return true;
};

const deleteSettings = async (name: string): Promise<void> => {
  const idsOf = (entries: { id: string }[]) => entries.map(({ id }) => id);
  for (const set of await getPolicySets(idsOf(await listPolicySetNames(name)))) await deletePolicySet(set);
  for (const policy of await getPolicies(idsOf(await listPolicyNames(name)))) await deletePolicy(policy);
  for (const task of await listTasks(name)) await deleteTask(task);
  for await (const sets of eachVariableSet(name)) await inPieces(sets, deleteVariableSet);
  for await (const projects of eachProject(name)) {
    await inPieces(projects, async ({ id, name: projectName }) => {
      await remove(keys.project(id));
      await remove(keys.projectName(name, projectName));
    });
  }
};

/** A few side by side: an organization may have thousands of members. */
const atOnce = 20;

const inPieces = async <T>(all: T[], each: (one: T) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < all.length; i += atOnce) await Promise.all(all.slice(i, i + atOnce).map(each));
};
