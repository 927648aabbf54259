/** Grants of teams on workspaces and projects, as stored in their items (HCP API: team access, project team access). */

/** Parts of an access level on a workspace; `custom` sets each individually. Names and values are HCP's. */
export interface WorkspaceParts {
  runs: 'read' | 'plan' | 'apply';
  variables: 'none' | 'read' | 'write';
  'state-versions': 'none' | 'read-outputs' | 'read' | 'write';
  'sentinel-mocks': 'none' | 'read';
  'workspace-locking': boolean;
  'run-tasks': boolean;
}

/** Parts of an access level on a project: for the project itself, and for every workspace in it. */
export interface ProjectParts {
  settings: 'read' | 'update' | 'delete';
  teams: 'none' | 'read' | 'manage';
  'variable-sets': 'none' | 'read' | 'write';
  create: boolean;
  move: boolean;
  delete: boolean;
  workspaces: WorkspaceParts;
}

export const workspaceLevels = ['read', 'plan', 'write', 'admin', 'custom'] as const;
export const projectLevels = ['read', 'write', 'maintain', 'admin', 'custom'] as const;
export type WorkspaceLevel = (typeof workspaceLevels)[number];
export type ProjectLevel = (typeof projectLevels)[number];

interface Grant<Level, Parts> {
  /** Id of the grant in the API: `tws-…`, `tprj-…`. */
  id: string;
  access: Level;
  /** Set for `custom` only. */
  parts?: Parts;
  /** Independent of the level; effective only for teams to which the organization delegates policy overrides. */
  overrides?: boolean;
}

export type WorkspaceGrant = Grant<WorkspaceLevel, WorkspaceParts>;
export type ProjectGrant = Grant<ProjectLevel, ProjectParts>;

/** By team, in the item of the workspace or project. It is authoritative; records of grants only help to find it. */
export type TeamAccess<G> = { [teamId: string]: G };
