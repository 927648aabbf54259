import type { Granted, Standing, Team } from './granted.ts';
import type { ProjectGrant, TeamAccess, WorkspaceGrant } from './team-access.ts';

/** Attributes of a project, workspace and variable set that determine permissions on it. */
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

/**
 * Subject of a permission check: the organization, or a record in it. An id stands for a record that is read only if
 * needed.
 */
export interface Scope {
  organization: string;
  project?: ScopedProject | string;
  /** The organization's flags for its default project apply too. */
  isDefaultProject?: boolean;
  workspace?: ScopedWorkspace | string;
  variableSet?: ScopedVariableSet;
  team?: Team;
  /** Team whose grant on the workspace or project is the subject. */
  accessOf?: string;
  /** User whose membership is the subject: users see and can end their own. */
  membershipOf?: string;
}

/** A caller's permissions on subjects. Each record is read once. */
export interface Grants {
  standing(organization: string): Promise<Standing>;
  /**
   * The organization whose IP allowlist rejects the request's address, if every standing read so far was refused
   * because of an allowlist. Reads nothing itself.
   */
  refusedBy(): Promise<string | undefined>;
  /**
   * Reads the membership, and for members who are not owners at most 3 more items. A workspace given by id is read in
   * the same request.
   */
  on(scope: Scope): Promise<Granted>;
  /**
   * For lists: permissions by id, none for missing records. At most 2 reads per 100 in addition to {@link standing}.
   */
  onWorkspaces(
    organization: string,
    workspaces: readonly (ScopedWorkspace | string)[],
  ): Promise<(id: string) => Granted>;
  onProjects(organization: string, projects: readonly (ScopedProject | string)[]): Promise<(id: string) => Granted>;
  /** The items of workspaces that the caller may see. */
  visible<T extends { workspaceId: string }>(organization: string, items: T[]): Promise<T[]>;
  /**
   * Like {@link visible}, without items of deleted workspaces, which owners would otherwise see: reads each
   * workspace.
   */
  visibleInLiving<T extends { workspaceId: string }>(organization: string, items: T[]): Promise<T[]>;
  /**
   * Narrows lists: workspaces and projects on which the caller might have this permission, to be checked one by one.
   * Undefined if the caller has it everywhere.
   */
  reach(organization: string, permission: 'workspace:read' | 'project:read'): Promise<Reach | undefined>;
  /** Whether the caller has no permission on anything in the organization. */
  reachesNothing(organization: string): Promise<boolean>;
}

/** Ids of workspaces and projects. */
export interface Reach {
  workspaceIds: Set<string>;
  projectIds: Set<string>;
}
