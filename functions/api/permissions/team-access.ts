/** What teams are given on workspaces and projects, as their items have it (HCP API: team access, project team access). */

/** The parts a level on a workspace is made of; `custom` has each of its own. Names and values are the API's. */
export interface WorkspaceParts {
  runs: 'read' | 'plan' | 'apply';
  variables: 'none' | 'read' | 'write';
  'state-versions': 'none' | 'read-outputs' | 'read' | 'write';
  'sentinel-mocks': 'none' | 'read';
  'workspace-locking': boolean;
  'run-tasks': boolean;
}

/** The parts of a level on a project, for the project itself and for every workspace in it. */
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
  /** Of the record that the API knows it by: `tws-…`, `tprj-…`. */
  id: string;
  access: Level;
  /** Of `custom` only. */
  parts?: Parts;
  /** Beside any level; good for teams that policy overrides are delegated to. */
  overrides?: boolean;
}

export type WorkspaceGrant = Grant<WorkspaceLevel, WorkspaceParts>;
export type ProjectGrant = Grant<ProjectLevel, ProjectParts>;

/** By team, on the item of the workspace or project: it alone decides, records of grants only lead there. */
export type TeamAccess<G> = { [teamId: string]: G };
