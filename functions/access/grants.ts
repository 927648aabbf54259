import {
  dependsOnGrants,
  type Granted,
  noPermissions,
  onOrganization,
  onProject,
  onTeam,
  onTeamAccess,
  onWorkspace,
  type Standing,
} from '../api/permissions/granted.ts';
import type { Grants, ScopedProject, ScopedVariableSet, ScopedWorkspace } from '../api/permissions/grants.ts';
import type { CallerKind } from '../api/permissions/principal.ts';
import { isExempt, permitsCaller } from '../ip-allowlists/enforcement.ts';
import { accepted, getMembership, type Membership, roleOf } from '../people/accounts/memberships.ts';
import { reachOf } from '../people/teams/grants.ts';
import { getTeam, getTeams } from '../people/teams/records.ts';
import type { Team } from '../people/teams/team.ts';
import { getProjects } from '../projects/records.ts';
import { type Key, keys } from '../store/keys.ts';
import { batchGet } from '../store/table.ts';
import { getWorkspaces, type Workspace } from '../workspaces/records.ts';

/** Of a user, or of the account that a token of a team or an organization acts as. 1 or 2 reads. */
export const standingOf = async (userId: string, organization: string, caller?: Caller): Promise<Standing> =>
  standingBy(await getMembership(userId, organization), caller);

/** What a request comes with; absent when the user does not call themselves. */
export interface Caller {
  kind: CallerKind;
  /** Of the connection. */
  address: string | undefined;
}

const isRefused = async (membership: Membership, { kind, address }: Caller): Promise<boolean> =>
  membership.ipAllowlists !== undefined &&
  !isExempt(roleOf(membership), kind) &&
  !(await permitsCaller(membership.organization, address));

const teamsOf = async ({ teams, organization }: Membership): Promise<Team[]> =>
  teams?.size ? (await getTeams([...teams])).filter((team) => team.organization === organization) : [];

const standingBy = async (membership: Membership | undefined, caller: Caller | undefined): Promise<Standing> => {
  if (!membership) return { teams: [] };
  if (caller?.kind === 'user' && membership.withoutUserTokens) return { teams: [], refuses: 'user token' };
  const role = roleOf(membership);
  // Beside each other: it takes no longer for whoever is not refused.
  const [refused, teams] = await Promise.all([
    caller ? isRefused(membership, caller) : false,
    role === 'member' ? teamsOf(membership) : [],
  ]);
  return refused ? { teams: [], refuses: 'address' } : { role, teams };
};

/** Asks for the standing, and for a workspace in the same request where one is named. */
type AskStanding = (
  organization: string,
  workspaceId?: string,
) => { standing: Promise<Standing>; workspace?: Promise<Workspace | undefined> };

const askFor =
  (userId: string, caller?: Caller): AskStanding =>
  (organization, workspaceId) => {
    if (workspaceId === undefined) return { standing: standingOf(userId, organization, caller) };
    const both = getMembershipAndWorkspace(userId, organization, workspaceId);
    return {
      standing: both.then(({ membership }) => standingBy(membership, caller)),
      workspace: both.then(({ workspace }) => workspace),
    };
  };

const once = <T>(ask: (key: string) => Promise<T>): ((key: string) => Promise<T>) => {
  const answers = new Map<string, Promise<T>>();
  return (key) => {
    const answer = answers.get(key) ?? ask(key);
    answers.set(key, answer);
    return answer;
  };
};

/** Records by id, read together and each once. */
const records = <R extends { id: string }>(read: (ids: string[]) => Promise<R[]>) => {
  const pending = new Map<string, Promise<R | undefined>>();
  const note = (id: string, reading: Promise<R | undefined>): void => {
    // Errors surface in the callers that await it.
    reading.catch(() => {});
    pending.set(id, reading);
  };
  const find = async (items: readonly (R | string)[]): Promise<(id: string) => R | undefined> => {
    for (const one of items) if (typeof one !== 'string') pending.set(one.id, Promise.resolve(one));
    const ids = [...new Set(items.map(idOf))];
    const missing = ids.filter((id) => !pending.has(id));
    const reading = missing.length ? read(missing) : Promise.resolve([]);
    for (const id of missing)
      pending.set(
        id,
        reading.then((records) => records.find((one) => one.id === id)),
      );
    const byId = new Map(await Promise.all(ids.map(async (id) => [id, await pending.get(id)] as const)));
    return (id: string) => byId.get(id);
  };
  return { find, note };
};

const idOf = (one: { id: string } | string): string => (typeof one === 'string' ? one : one.id);

/** Records of another organization: permissions of this one do not apply to them. */
const elsewhere = (organization: string, records: readonly ({ id: string; organization: string } | string)[]) =>
  new Set(records.flatMap((one) => (typeof one !== 'string' && one.organization !== organization ? [one.id] : [])));

const ofSelf = ['membership:read', 'membership:write'] as const;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one cache of reads, shared by small closures
const grantsOf = (ask: AskStanding, self?: string): Grants => {
  const standings = new Map<string, Promise<Standing>>();
  const workspacesById = records<ScopedWorkspace>(getWorkspaces);
  const workspacesOf = workspacesById.find;
  const projectsOf = records<ScopedProject>(getProjects).find;
  const standingBeside = (organization: string, workspaceId?: string): Promise<Standing> => {
    const before = standings.get(organization);
    if (before) return before;
    const asking = ask(organization, workspaceId);
    if (workspaceId !== undefined && asking.workspace) workspacesById.note(workspaceId, asking.workspace);
    standings.set(organization, asking.standing);
    return asking.standing;
  };
  const standing: Grants['standing'] = (organization) => standingBeside(organization);

  const refusedBy: Grants['refusedBy'] = async () => {
    const [first, ...others] = await Promise.all(
      [...standings].map(async ([name, standing]) => ({ name, ...(await standing) })),
    );
    const isRefused = (one: Standing) => one.refuses === 'address';
    return first && isRefused(first) && others.every(isRefused) ? first.name : undefined;
  };

  const onProjects: Grants['onProjects'] = async (organization, projects) => {
    const who = await standing(organization);
    const foreign = elsewhere(organization, projects);
    if (!dependsOnGrants(who)) return (id) => (foreign.has(id) ? noPermissions : onProject(who, undefined));
    const project = await projectsOf(projects);
    return (id) => {
      const inOrganization = project(id);
      // One that is not there, or elsewhere, is as one that nothing was given on.
      return onProject(who, inOrganization?.organization === organization ? inOrganization : undefined);
    };
  };

  const onWorkspaces: Grants['onWorkspaces'] = async (organization, workspaces) => {
    const who = await standing(organization);
    const foreign = elsewhere(organization, workspaces);
    if (!dependsOnGrants(who))
      return (id) => (foreign.has(id) ? noPermissions : onWorkspace(who, undefined, undefined));
    const workspace = await workspacesOf(workspaces);
    const project = await projectsOf(workspaces.flatMap((one) => workspace(idOf(one))?.projectId ?? []));
    return (id) => {
      const record = workspace(id);
      return record?.organization === organization
        ? onWorkspace(who, record, project(record.projectId))
        : noPermissions;
    };
  };

  /** What belongs to a workspace is gone with it, for owners too. */
  const inWorkspace = async (organization: string, id: string): Promise<Granted> => {
    const { role } = await standingBeside(organization, id);
    if (role === undefined) return noPermissions;
    const record = (await workspacesOf([id]))(id);
    return record ? (await onWorkspaces(organization, [record]))(id) : noPermissions;
  };

  /** Whoever reads the variables of something it is applied to, sees it; its owner's managers manage it. */
  const onVariableSet = async (set: ScopedVariableSet): Promise<Granted> => {
    const who = await standing(set.organization);
    const everywhere = onOrganization(who);
    if (!dependsOnGrants(who) || everywhere.has('varset:read')) return everywhere;
    const projectIds = [...(set.projectIds ?? [])];
    const workspaceIds = [...(set.workspaceIds ?? [])];
    const project = await onProjects(set.organization, set.projectId ? [set.projectId, ...projectIds] : projectIds);
    const owner = set.projectId ? project(set.projectId) : noPermissions;
    const workspace = await onWorkspaces(set.organization, workspaceIds);
    const reaches = [...projectIds.map(project), ...workspaceIds.map(workspace)];
    const readsVariables = reaches.some((granted) => granted.has('variable:read'));
    return new Set([...everywhere, ...owner, ...(readsVariables ? (['varset:read'] as const) : [])]);
  };

  const on: Grants['on'] = async (scope) => {
    const { organization, project, isDefaultProject, workspace, variableSet, team, membershipOf, accessOf } = scope;
    if (accessOf !== undefined) {
      const { accessOf: _, ...there } = scope;
      return onTeamAccess(await standing(organization), await on(there), await getTeam(accessOf));
    }
    if (team) return onTeam(await standing(organization), team);
    if (variableSet) return onVariableSet(variableSet);
    if (typeof workspace === 'string') return inWorkspace(organization, workspace);
    if (workspace) return (await onWorkspaces(organization, [workspace]))(workspace.id);
    if (!project) {
      const granted = onOrganization(await standing(organization));
      return membershipOf !== undefined && membershipOf === self ? new Set([...granted, ...ofSelf]) : granted;
    }
    const inProject = (await onProjects(organization, [project]))(idOf(project));
    return isDefaultProject ? new Set([...inProject, ...onOrganization(await standing(organization))]) : inProject;
  };

  const visible: Grants['visible'] = async (organization, items) => {
    if (onOrganization(await standing(organization)).has('workspace:read')) return items;
    const ids = items.map(({ workspaceId }) => workspaceId);
    const granted = await onWorkspaces(organization, ids);
    return items.filter(({ workspaceId }) => granted(workspaceId).has('workspace:read'));
  };

  const reachIn = once(async (organization) => reachOf((await standing(organization)).teams.map(({ id }) => id)));

  const reach: Grants['reach'] = async (organization, permission) => {
    const who = await standing(organization);
    return onOrganization(who).has(permission) ? undefined : reachIn(organization);
  };

  const reachesNothing: Grants['reachesNothing'] = async (organization) => {
    const visible = await reach(organization, 'workspace:read');
    return visible !== undefined && visible.workspaceIds.size + visible.projectIds.size === 0;
  };

  return { standing, refusedBy, on, onWorkspaces, onProjects, visible, reach, reachesNothing };
};

/** Current permissions of the user who requested a later action. */
export const grantsOfUser = (userId: string, caller?: Caller): Grants => grantsOf(askFor(userId, caller), userId);

/** For a caller that is admitted for one purpose and has no other permissions. */
export const noGrants: Grants = grantsOf(() => ({ standing: Promise.resolve({ teams: [] }) }));

/** 1 read. None before the invitation is accepted, and none on workspaces being deleted. */
const getMembershipAndWorkspace = async (
  userId: string,
  organization: string,
  workspaceId: string,
): Promise<{ membership: Membership | undefined; workspace: Workspace | undefined }> => {
  const items = await batchGet<Key>([keys.membership(userId, organization), keys.workspace(workspaceId)]);
  const membership = items.find(({ sk }) => sk !== 'WS') as (Membership & Key) | undefined;
  const workspace = items.find(({ sk }) => sk === 'WS') as (Workspace & Key) | undefined;
  return { membership: accepted(membership), workspace: workspace?.deletedAt ? undefined : workspace };
};
