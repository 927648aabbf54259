import { type OrganizationFlag, organizationFlags } from '#api/permissions/organization-flags.ts';
import { flagPermissions, projectPartPermissions, workspacePartPermissions } from '#api/permissions/permissions.ts';
import type { ProjectGrant, ProjectParts, WorkspaceGrant, WorkspaceParts } from '#api/permissions/team-access.ts';
import type { Api } from './api.ts';
import { memberHelpers } from './members.ts';
import type { World } from './world.ts';

/** Every role in the permission table, for a walk of all routes. */

export interface Caller {
  role: string;
  token: string | null;
  userId?: string;
}

const custom = (parts: Partial<WorkspaceParts> = {}): WorkspaceParts => ({
  runs: 'read',
  variables: 'none',
  'state-versions': 'none',
  'sentinel-mocks': 'none',
  'workspace-locking': false,
  'run-tasks': false,
  ...parts,
});

const customOfProject = (parts: Partial<ProjectParts> = {}): ProjectParts => ({
  settings: 'read',
  teams: 'none',
  'variable-sets': 'none',
  create: false,
  move: false,
  delete: false,
  workspaces: custom(),
  ...parts,
});

const read = (value: string) => (value === 'true' ? true : value === 'false' ? false : value);

/** Each value of each part, separately. */
const samples = (gives: object) =>
  Object.entries(gives).flatMap(([part, values]) =>
    Object.keys(values).map((value) => ({ name: `${part} ${value}`, parts: { [part]: read(value) } })),
  );

/** Roles of a member of one team, by the team's flags and its grant on a workspace or on its project. */
export interface TeamRole {
  role: string;
  flags?: OrganizationFlag[];
  workspace?: Omit<WorkspaceGrant, 'id'>;
  project?: Omit<ProjectGrant, 'id'>;
}

export const teamRoles: TeamRole[] = [
  { role: 'member of a team that has nothing' },
  { role: 'flags of unsupported features', flags: organizationFlags.filter((flag) => !flagPermissions[flag]) },
  ...organizationFlags.flatMap((flag) => (flagPermissions[flag] ? [{ role: flag, flags: [flag] }] : [])),
  ...(['read', 'plan', 'write', 'admin'] as const).map((access) => ({
    role: `workspace ${access}`,
    workspace: { access },
  })),
  ...samples(workspacePartPermissions).map(({ name, parts }) => ({
    role: `workspace custom: ${name}`,
    workspace: { access: 'custom' as const, parts: custom(parts) },
  })),
  ...(['read', 'write', 'maintain', 'admin'] as const).map((access) => ({
    role: `project ${access}`,
    project: { access },
  })),
  ...samples(projectPartPermissions).map(({ name, parts }) => ({
    role: `project custom: ${name}`,
    project: { access: 'custom' as const, parts: customOfProject(parts) },
  })),
  ...samples(workspacePartPermissions).map(({ name, parts }) => ({
    role: `project custom: workspaces ${name}`,
    project: { access: 'custom' as const, parts: customOfProject({ workspaces: custom(parts) }) },
  })),
];

/** One caller per role, each with a team of their own in the organization `acme`, on the world's workspace and project. */
export const makeCallers = async (api: Api, world: World): Promise<Caller[]> => {
  const members = await memberHelpers();
  const { grant } = await import('#resources/teams/grants.ts');
  const { getProject } = await import('#resources/projects/records.ts');
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const workspace = await getWorkspace(world.workspace ?? '');
  const project = await getProject(world.project ?? '');
  if (!workspace || !project) throw new Error('no world');
  const callerOf = ({ id, token }: { id: string; token: string }, role: string) => ({ role, token, userId: id });
  const callers: Caller[] = [
    { role: 'no token', token: null },
    { role: 'owner', token: api.token },
    callerOf(await members.owner('elsewhere'), 'owner elsewhere'),
    callerOf(await members.member('acme'), 'member'),
    callerOf(await members.acting('acme', 'organization'), 'organization token'),
  ];
  for (const { role, flags = [], ...granted } of teamRoles) {
    const user = await members.withFlags('acme', ...flags);
    if (granted.workspace) await grant({ workspace }, user.team.id, granted.workspace);
    if (granted.project) await grant({ project }, user.team.id, granted.project);
    callers.push(callerOf(user, role));
  }
  // A token's first use is recorded: with a frozen table, each request would try to.
  for (const { token } of callers) await api.get('account/details', { token });
  return callers;
};
