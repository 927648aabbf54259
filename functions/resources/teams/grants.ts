import type { Reach } from '#api/permissions/grants.ts';
import type { ProjectGrant, TeamAccess, WorkspaceGrant } from '#api/permissions/team-access.ts';
import { newId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { create, get, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';

/**
 * Grants of teams on workspaces and projects. The items of workspaces and projects hold the effective grants
 * (team-access.ts). A record by grant id and a pointer beside the team only help to find them; they are written
 * before and removed after the effective grant, so a leftover record has no effect.
 */
export interface GrantRecord {
  id: string;
  organization: string;
  teamId: string;
  /** Either this or `projectId` is set. */
  workspaceId?: string;
  projectId?: string;
}

/** Maximum number of grants on a workspace or project, whose item contains all of them. */
export const maxGrants = 100;

interface Home {
  id: string;
  organization: string;
}

type On = { workspace: Home } | { project: Home };

type GrantOn<O extends On> = O extends { workspace: Home } ? WorkspaceGrant : ProjectGrant;

const keyOf = (on: On): Key => ('workspace' in on ? keys.workspace(on.workspace.id) : keys.project(on.project.id));

const recordOf = (on: On, teamId: string, id: string): GrantRecord =>
  'workspace' in on
    ? { id, teamId, organization: on.workspace.organization, workspaceId: on.workspace.id }
    : { id, teamId, organization: on.project.organization, projectId: on.project.id };

const pathOf = (teamId: string) => `teamAccess.${teamId}`;

/**
 * Writes the effective grant. Undefined when the limit is reached, the team already has a grant, or the item is
 * deleted.
 */
const enter = async (on: On, teamId: string, grant: WorkspaceGrant | ProjectGrant) =>
  (await updateExisting(keyOf(on), {
    set: { teamAccess: { [teamId]: grant } },
    condition: 'attribute_not_exists(teamAccess)',
  })) ??
  update(keyOf(on), {
    set: { [pathOf(teamId)]: grant },
    condition: `attribute_not_exists(#access.#team) AND size(#access) < :most`,
    names: { '#access': 'teamAccess', '#team': teamId },
    values: { ':most': maxGrants },
  });

/**
 * 3 or 4 writes. Undefined when the limit is reached, the team already has a grant, or the workspace or project is
 * deleted.
 */
export const grant = async <O extends On>(
  on: O,
  teamId: string,
  values: Omit<GrantOn<O>, 'id'>,
): Promise<GrantOn<O> | undefined> => {
  const id = newId('workspace' in on ? 'tws' : 'tprj');
  const record = recordOf(on, teamId, id);
  await create({ ...keys.teamGrant(id), ...record });
  await create({ ...keys.grantOfTeam(teamId, id), ...record });
  const newGrant = { ...values, id } as GrantOn<O>;
  if (await enter(on, teamId, newGrant)) return newGrant;
  await forget(record);
  return undefined;
};

/** Undefined when the grant was removed concurrently. */
export const changeGrant = async <G extends WorkspaceGrant | ProjectGrant>(
  on: On,
  teamId: string,
  changed: G,
): Promise<G | undefined> => {
  const updated = await update(keyOf(on), {
    set: { [pathOf(teamId)]: changed },
    condition: '#access.#team.id = :id',
    names: { '#access': 'teamAccess', '#team': teamId },
    values: { ':id': changed.id },
  });
  return updated ? changed : undefined;
};

/** Takes effect at once. Can be repeated. */
export const revoke = async (record: GrantRecord): Promise<void> => {
  const { id, teamId, workspaceId, projectId } = record;
  const key = workspaceId ? keys.workspace(workspaceId) : keys.project(projectId ?? '');
  await update(key, {
    remove: [pathOf(teamId)],
    condition: '#access.#team.id = :id',
    names: { '#access': 'teamAccess', '#team': teamId },
    values: { ':id': id },
  });
  await forget(record);
};

const forget = async ({ id, teamId }: GrantRecord): Promise<void> => {
  await remove(keys.grantOfTeam(teamId, id));
  await remove(keys.teamGrant(id));
};

export const getGrantRecord = (id: string): Promise<GrantRecord | undefined> => get<GrantRecord>(keys.teamGrant(id));

/** Ordered by id; may contain leftover records without an effective grant. */
export const grantsOfTeam = (teamId: string): Promise<GrantRecord[]> =>
  queryAll<GrantRecord>({ pk: keys.team(teamId).pk, prefix: 'GRANT#' });

/** Removes the grant records of a deleted workspace or project. The effective grants are deleted with its item. */
export const forgetGrants = async (access: TeamAccess<{ id: string }> | undefined): Promise<void> => {
  const all = Object.entries(access ?? {});
  await Promise.all(all.map(([teamId, { id }]) => forget({ id, teamId, organization: '' })));
};

/** Workspaces and projects on which any of the teams may have a grant. 1 read per team. */
export const reachOf = async (teamIds: string[]): Promise<Reach> => {
  const all = (await Promise.all(teamIds.map(grantsOfTeam))).flat();
  return {
    workspaceIds: new Set(all.flatMap(({ workspaceId }) => workspaceId ?? [])),
    projectIds: new Set(all.flatMap(({ projectId }) => projectId ?? [])),
  };
};
