import type { Granted, Standing, Team } from './granted.ts';
import type { ProjectGrant, TeamAccess, WorkspaceGrant } from './team-access.ts';

/** What of a project, a workspace and a variable set decides who may. */
export interface ScopedProject {
  id: string;
  organization: string;
  teamAccess?: TeamAccess<ProjectGrant>;
}
export interface ScopedWorkspace {
  id: string;
  organization: string;
  projectId: string;
  teamAccess?: TeamAccess<WorkspaceGrant>;
  managedBy?: string;
}
export interface ScopedVariableSet {
  organization: string;
  projectId?: string;
  projectIds?: Set<string>;
  workspaceIds?: Set<string>;
}

/** What decides who may: the organization, or what in it. Ids stand for records that are only read if they matter. */
export interface Scope {
  organization: string;
  project?: ScopedProject | string;
  /** The organization's flags for its default project count too. */
  isDefaultProject?: boolean;
  workspace?: ScopedWorkspace | string;
  variableSet?: ScopedVariableSet;
  team?: Team;
  /** Of what this team was given on the workspace or project. */
  accessOf?: string;
  /** Whose membership it is: everybody sees their own, and may end it. */
  membershipOf?: string;
}

/** A caller's permissions on subjects. Each record is read once. */
export interface Grants {
  standing(organization: string): Promise<Standing>;
  /** An organization that refuses the address of the request, if all whose standing was looked at do. Reads nothing. */
  refusedBy(): Promise<string | undefined>;
  /**
   * None more than the membership is read for owners and strangers, at most 3 more times for others. The workspace that an id
   * stands for is read in the same request.
   */
  on(scope: Scope): Promise<Granted>;
  /** For lists: by id, nothing for those that are not there. At most 2 reads more than {@link standing} for 100. */
  onWorkspaces(
    organization: string,
    workspaces: readonly (ScopedWorkspace | string)[],
  ): Promise<(id: string) => Granted>;
  onProjects(organization: string, projects: readonly (ScopedProject | string)[]): Promise<(id: string) => Granted>;
  /** Those of workspaces that the caller sees. */
  visible<T extends { workspaceId: string }>(organization: string, items: T[]): Promise<T[]>;
  /** As {@link visible}, without those of deleted workspaces, which owners see too: reads each workspace. */
  visibleInLiving<T extends { workspaceId: string }>(organization: string, items: T[]): Promise<T[]>;
  /**
   * Where the caller may have something, if that permission is not everywhere's: what is elsewhere need not be read. What
   * is there is only for the caller if its item says so.
   */
  reach(organization: string, permission: 'workspace:read' | 'project:read'): Promise<Reach | undefined>;
  /** Nothing in the organization is for the caller, so nothing has to be looked for. */
  reachesNothing(organization: string): Promise<boolean>;
}

/** Workspaces and projects, by id. */
export interface Reach {
  workspaceIds: Set<string>;
  projectIds: Set<string>;
}
