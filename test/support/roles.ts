import { organizationFlags } from '#api/permissions/organization-flags.ts';
import { flagPermissions, projectPartPermissions, workspacePartPermissions } from '#api/permissions/permissions.ts';
import type { ProjectParts, WorkspaceParts } from '#api/permissions/team-access.ts';
import { memberHelpers } from './members.ts';

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

/** One caller per role, each with a team of their own in the organization `acme`. */
export const makeCallers = async (on: { workspace: string; project: string }, owner: string): Promise<Caller[]> => {
  const members = await memberHelpers();
  const { grant } = await import('#resources/teams/grants.ts');
  const { getProject } = await import('#resources/projects/records.ts');
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const workspace = await getWorkspace(on.workspace);
  const project = await getProject(on.project);
  if (!workspace || !project) throw new Error('no world');

  const callerOf = async (role: string, user: Promise<{ id: string; token: string }>): Promise<Caller> => {
    const { id, token } = await user;
    return { role, token, userId: id };
  };
  const onWorkspace = async (role: string, access: Parameters<typeof grant<{ workspace: typeof workspace }>>[2]) => {
    const user = await members.withFlags('acme');
    await grant({ workspace }, user.team.id, access);
    return callerOf(role, Promise.resolve(user));
  };
  const onProject = async (role: string, access: Parameters<typeof grant<{ project: typeof project }>>[2]) => {
    const user = await members.withFlags('acme');
    await grant({ project }, user.team.id, access);
    return callerOf(role, Promise.resolve(user));
  };

  const callers: Caller[] = [
    { role: 'no token', token: null },
    { role: 'owner', token: owner },
    await callerOf('owner elsewhere', members.owner('elsewhere')),
    await callerOf('member', members.member('acme')),
    await callerOf('member of a team that has nothing', members.withFlags('acme')),
    await callerOf('organization token', members.acting('acme', 'organization')),
  ];
  const idle = organizationFlags.filter((flag) => !flagPermissions[flag]);
  callers.push(await callerOf('flags of unsupported features', members.withFlags('acme', ...idle)));
  for (const flag of organizationFlags) {
    if (flagPermissions[flag]) callers.push(await callerOf(flag, members.withFlags('acme', flag)));
  }
  for (const access of ['read', 'plan', 'write', 'admin'] as const) {
    callers.push(await onWorkspace(`workspace ${access}`, { access }));
  }
  for (const { name, parts } of samples(workspacePartPermissions)) {
    callers.push(await onWorkspace(`workspace custom: ${name}`, { access: 'custom', parts: custom(parts) }));
  }
  for (const access of ['read', 'write', 'maintain', 'admin'] as const) {
    callers.push(await onProject(`project ${access}`, { access }));
  }
  for (const { name, parts } of samples(projectPartPermissions)) {
    callers.push(await onProject(`project custom: ${name}`, { access: 'custom', parts: customOfProject(parts) }));
  }
  for (const { name, parts } of samples(workspacePartPermissions)) {
    const access = customOfProject({ workspaces: custom(parts) });
    callers.push(await onProject(`project custom: workspaces ${name}`, { access: 'custom', parts: access }));
  }
  return callers;
};
