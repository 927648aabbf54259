import {
  dependsOnGrants,
  dependsOnWorkspace,
  type Granted,
  noPermissions,
  onOrganization,
  onProject,
  onTeam,
  onTeamAccess,
  onWorkspace,
  type Standing,
} from '#api/permissions/granted.ts';
import type { Grants, ScopedProject, ScopedVariableSet, ScopedWorkspace } from '#api/permissions/grants.ts';
import { getProjects } from '#resources/projects/records.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import { reachOf } from '../grants.ts';
import { getTeam } from '../records.ts';
import { idOf, once, recordLoader } from './record-loader.ts';
import { type AskStanding, askFor, type Caller } from './standing.ts';

/** Current permissions of the user who requested a later action. */
export const grantsOfUser = (userId: string, caller?: Caller): Grants => grantsOf(askFor(userId, caller), userId);

/** @param self the caller's user id */
const grantsOf = (ask: AskStanding, self?: string): Grants => {
  const reads = readOnce(ask);
  const { standing } = reads;
  const lists = onLists(reads);
  return {
    standing,
    refusedBy: reads.refusedBy,
    ...lists,
    on: onScope(reads, lists, self),
    ...visibleOf(reads, lists),
    ...reachFrom(standing),
  };
};

type Reads = ReturnType<typeof readOnce>;
type Lists = Pick<Grants, 'onWorkspaces' | 'onProjects'>;

/** Reads each membership, workspace and project at most once per request. */
const readOnce = (ask: AskStanding) => {
  const standings = new Map<string, Promise<Standing>>();
  const workspacesById = recordLoader<ScopedWorkspace>(getWorkspaces);
  const standingBeside = (organization: string, workspaceId?: string): Promise<Standing> => {
    const before = standings.get(organization);
    if (before) return before;
    const request = ask(organization, workspaceId);
    if (workspaceId !== undefined && request.workspace) workspacesById.note(workspaceId, request.workspace);
    standings.set(organization, request.standing);
    return request.standing;
  };
  const standing: Grants['standing'] = (organization) => standingBeside(organization);
  const refusedBy: Grants['refusedBy'] = async () => {
    const [first, ...others] = await Promise.all(
      [...standings].map(async ([name, standing]) => ({ name, ...(await standing) })),
    );
    const isRefused = ({ refuses }: Standing) => refuses === 'address';
    return first && isRefused(first) && others.every(isRefused) ? first.name : undefined;
  };
  return {
    standing,
    /** Reads a workspace in the same request. */
    standingBeside,
    refusedBy,
    workspacesOf: workspacesById.find,
    projectsOf: recordLoader<ScopedProject>(getProjects).find,
  };
};

/** Ids of records in another organization, to which permissions of this organization do not apply. */
const elsewhere = (organization: string, records: readonly ({ id: string; organization: string } | string)[]) =>
  new Set(
    records.flatMap((record) =>
      typeof record !== 'string' && record.organization !== organization ? [record.id] : [],
    ),
  );

const onLists = ({ standing: standingIn, workspacesOf, projectsOf }: Reads): Lists => ({
  onProjects: async (organization, projects) => {
    const standing = await standingIn(organization);
    const foreign = elsewhere(organization, projects);
    if (!dependsOnGrants(standing)) return (id) => (foreign.has(id) ? noPermissions : onProject(standing, undefined));
    const project = await projectsOf(projects);
    return (id) => {
      const inOrganization = project(id);
      // A missing workspace, or one of another organization, has no grants of its own.
      return onProject(standing, inOrganization?.organization === organization ? inOrganization : undefined);
    };
  },

  onWorkspaces: async (organization, workspaces) => {
    const standing = await standingIn(organization);
    const foreign = elsewhere(organization, workspaces);
    if (!dependsOnWorkspace(standing))
      return (id) => (foreign.has(id) ? noPermissions : onWorkspace(standing, undefined, undefined));
    const workspace = await workspacesOf(workspaces);
    const projectIds = workspaces.flatMap((item) => workspace(idOf(item))?.projectId ?? []);
    const project = await projectsOf(dependsOnGrants(standing) ? projectIds : []);
    return (id) => {
      const record = workspace(id);
      return record?.organization === organization
        ? onWorkspace(standing, record, project(record.projectId))
        : noPermissions;
    };
  },
});

const onScope = (reads: Reads, lists: Lists, self: string | undefined): Grants['on'] => {
  const { standing } = reads;
  const { onWorkspaces, onProjects } = lists;
  const on: Grants['on'] = async (scope) => {
    const { organization, project, isDefaultProject, workspace, variableSet, team, membershipOf, accessOf } = scope;
    if (accessOf !== undefined) {
      const { accessOf: _, ...place } = scope;
      return onTeamAccess(await standing(organization), await on(place), await getTeam(accessOf));
    }
    if (team) return onTeam(await standing(organization), team);
    if (variableSet) return onVariableSet(reads, lists, variableSet);
    if (typeof workspace === 'string') return inWorkspace(reads, lists, organization, workspace);
    if (workspace) return (await onWorkspaces(organization, [workspace]))(workspace.id);
    if (!project) {
      const granted = onOrganization(await standing(organization));
      return membershipOf !== undefined && membershipOf === self ? new Set([...granted, ...ofSelf]) : granted;
    }
    const inProject = (await onProjects(organization, [project]))(idOf(project));
    return isDefaultProject ? new Set([...inProject, ...onOrganization(await standing(organization))]) : inProject;
  };
  return on;
};

const ofSelf = ['membership:read', 'membership:write'] as const;

/** Permissions on a deleted workspace's records end with the workspace, for owners too. */
const inWorkspace = async (
  { standingBeside, workspacesOf }: Reads,
  { onWorkspaces }: Lists,
  organization: string,
  id: string,
): Promise<Granted> => {
  const { role } = await standingBeside(organization, id);
  if (role === undefined) return noPermissions;
  const record = (await workspacesOf([id]))(id);
  return record ? (await onWorkspaces(organization, [record]))(id) : noPermissions;
};

/**
 * Users who can read variables of a workspace or project with the set can read the set. Permissions on the owning
 * project apply to the set as well.
 */
const onVariableSet = async (
  { standing: standingIn }: Reads,
  { onProjects, onWorkspaces }: Lists,
  set: ScopedVariableSet,
): Promise<Granted> => {
  const standing = await standingIn(set.organization);
  const everywhere = onOrganization(standing);
  if (!dependsOnGrants(standing) || everywhere.has('varset:write')) return everywhere;
  const projectIds = [...(set.projectIds ?? [])];
  const workspaceIds = [...(set.workspaceIds ?? [])];
  const project = await onProjects(set.organization, set.projectId ? [set.projectId, ...projectIds] : projectIds);
  const owner = set.projectId ? project(set.projectId) : noPermissions;
  const workspace = await onWorkspaces(set.organization, workspaceIds);
  const reaches = [...projectIds.map(project), ...workspaceIds.map(workspace)];
  const readsVariables = reaches.some((granted) => granted.has('variable:read'));
  return new Set([...everywhere, ...owner, ...(readsVariables ? (['varset:read'] as const) : [])]);
};

const visibleOf = ({ workspacesOf }: Reads, { onWorkspaces }: Lists): Pick<Grants, 'visible' | 'visibleInLiving'> => {
  const visible: Grants['visible'] = async (organization, items) => {
    const ids = items.map(({ workspaceId }) => workspaceId);
    const granted = await onWorkspaces(organization, ids);
    return items.filter(({ workspaceId }) => granted(workspaceId).has('workspace:read'));
  };
  return {
    visible,
    visibleInLiving: async (organization, items) => {
      const workspace = await workspacesOf(items.map(({ workspaceId }) => workspaceId));
      return visible(
        organization,
        items.filter(({ workspaceId }) => workspace(workspaceId)),
      );
    },
  };
};

/** Workspaces and projects on which the user's teams have grants. */
const reachFrom = (standing: Grants['standing']): Pick<Grants, 'reach' | 'reachesNothing'> => {
  const reachIn = once(async (organization) => reachOf((await standing(organization)).teams.map(({ id }) => id)));
  const reach: Grants['reach'] = async (organization, permission) =>
    onOrganization(await standing(organization)).has(permission) ? undefined : reachIn(organization);
  return {
    reach,
    reachesNothing: async (organization) => {
      const places = await reach(organization, 'workspace:read');
      return places !== undefined && places.workspaceIds.size + places.projectIds.size === 0;
    },
  };
};

/** For a caller admitted for one purpose, without other permissions. */
export const noGrants: Grants = grantsOf(() => ({ standing: Promise.resolve({ teams: [] }) }));
