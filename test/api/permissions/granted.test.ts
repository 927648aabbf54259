import { describe, expect, it } from 'vitest';
import {
  dependsOnGrants,
  noPermissions,
  onOrganization,
  onProject,
  onTeam,
  onTeamAccess,
  onWorkspace,
  type Standing,
  type Team,
} from '#api/permissions/granted.ts';
import { type Permission, permissions } from '#api/permissions/permissions.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import {
  mayCancel,
  organizationPermissions,
  projectPermissions,
  teamPermissions,
  workspacePermissions,
} from '#api/permissions/reported-permissions.ts';
import type { WorkspaceGrant } from '#api/permissions/team-access.ts';
import { permissionsOf, type Scope } from '#test/support/permission-table.ts';
import { teamRoles } from '#test/support/roles.ts';

/** How roles, teams and their access add up. Which permission belongs to which route is tested in who-may.test.ts. */

const team = (change: Partial<Team> = {}): Team => ({
  id: 'team-1',
  organizationAccess: [],
  visibility: 'secret',
  allowMemberTokenManagement: true,
  ...change,
});
const owner: Standing = { role: 'owner', teams: [] };
const organization: Standing = { role: 'organization', teams: [] };
const memberOf = (...teams: Team[]): Standing => ({ role: 'member', teams });
const stranger: Standing = { teams: [] };
const has = (granted: ReadonlySet<Permission>, ...wanted: Permission[]) => wanted.map((one) => granted.has(one));
const level = (access: string) => ({ access }) as unknown as WorkspaceGrant;

it.each(teamRoles)(
  '$role has the permissions that HCP Terraform documents',
  ({ role, flags = [], workspace, project }) => {
    const standing = memberOf(team({ organizationAccess: flags }));
    const accessTo = (grant: object | undefined) => ({ teamAccess: grant && { 'team-1': grant } }) as never;
    const documented = (scope: Scope) => permissionsOf(role, scope, permissions);
    expect(onOrganization(standing)).toEqual(documented('organization'));
    expect(onProject(standing, accessTo(project))).toEqual(documented('project'));
    expect(onWorkspace(standing, accessTo(workspace), accessTo(project))).toEqual(documented('workspace'));
  },
);

it.each<[string, Standing]>([
  ['owner', owner],
  ['organization token', organization],
  ['member', memberOf()],
  ['owner elsewhere', stranger],
])('%s has the permissions that HCP Terraform documents, everywhere', (role, standing) => {
  const documented = permissionsOf(role, 'workspace', permissions);
  const granted = [
    onOrganization(standing),
    onProject(standing, undefined),
    onWorkspace(standing, undefined, undefined),
  ];
  expect(granted).toEqual([documented, documented, documented]);
});

describe('a workspace', () => {
  const wanted: Permission[] = ['workspace:read', 'run:apply', 'workspace:update', 'state:read'];
  it.each<[string, Standing, object | undefined, object | undefined, boolean[]]>([
    [
      'a member without a team has nothing on',
      memberOf(),
      { 'team-1': level('admin') },
      undefined,
      [false, false, false, false],
    ],
    [
      'a team without access has nothing on',
      memberOf(team()),
      { 'team-2': level('admin') },
      undefined,
      [false, false, false, false],
    ],
    [
      'two teams have together on',
      memberOf(team(), team({ id: 'team-2' })),
      { 'team-1': level('read'), 'team-2': level('admin') },
      undefined,
      [true, true, true, true],
    ],
    [
      'a team of both has the more of the two on',
      memberOf(team()),
      { 'team-1': level('admin') },
      { 'team-1': level('read') },
      [true, true, true, true],
    ],
  ])('%s a workspace: %5$j', (_, standing, workspace, project, expected) => {
    const granted = onWorkspace(standing, { teamAccess: workspace } as never, { teamAccess: project } as never);
    expect(has(granted, ...wanted)).toEqual(expected);
  });

  it('of an environment is visible to users with permission to apply runs, and its states to project admins', () => {
    const on = (access: string) =>
      onWorkspace(memberOf(team()), { managedBy: 'environment', teamAccess: { 'team-1': level(access) } }, undefined);
    expect(has(on('read'), 'workspace:read', 'state:read')).toEqual([false, false]);
    expect(has(on('write'), 'workspace:read', 'run:apply', 'state:read', 'state:read-outputs')).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(has(on('admin'), 'workspace:read', 'state:read', 'plan:read-json')).toEqual([true, true, true]);
    expect(on('read').has('organization:read'), 'permissions outside workspaces stay').toBe(true);
    const byToken = onWorkspace({ role: 'organization', teams: [] }, { managedBy: 'environment' }, undefined);
    expect(has(byToken, 'workspace:read', 'state:read', 'organization:read')).toEqual([false, false, true]);
  });

  it('lets a team override policies only if both the organization and the workspace delegate it', () => {
    const delegate = team({ organizationAccess: ['delegate-policy-overrides'] });
    const on = (standing: Standing, overrides: boolean) =>
      onWorkspace(standing, { teamAccess: { 'team-1': { ...level('read'), overrides } } } as never, undefined);
    const mayOverride = (standing: Standing, overrides: boolean) =>
      has(on(standing, overrides), 'run:override-policy' as Permission)[0];
    expect(mayOverride(memberOf(delegate), true)).toBe(true);
    expect(mayOverride(memberOf(delegate), false)).toBe(false);
    expect(mayOverride(memberOf(team()), true)).toBe(false);
  });
});

it('only permissions of team members depend on team access', () => {
  const standings = [owner, organization, memberOf(), memberOf(team()), stranger];
  expect(standings.map(dependsOnGrants)).toEqual([false, false, false, true, false]);
});

it.each<[Permission[], object, boolean]>([
  [['run:apply'], { planOnly: false, createdBy: 'other' }, true],
  [['run:plan'], { planOnly: true, createdBy: 'me' }, true],
  [['run:plan'], { planOnly: false, createdBy: 'me' }, false],
  [['run:plan'], { planOnly: true, createdBy: 'other' }, false],
  [['run:read'], { planOnly: true, createdBy: 'me' }, false],
])('a caller with %j may cancel a run with %j: %s', (granted, run, expected) => {
  expect(mayCancel(new Set(granted), run as never, 'me')).toBe(expected);
});

it('documents report every action to callers with all permissions, and none to others', () => {
  const all = new Set(permissions);
  const ofTeam = (granted: ReadonlySet<Permission>) => teamPermissions(granted, {});
  for (const reported of [organizationPermissions, projectPermissions, workspacePermissions, ofTeam]) {
    // Subscription and single sign-on are not managed by this API.
    const { 'can-manage-subscription': _, 'can-manage-sso': __, ...rest } = reported(all) as Record<string, boolean>;
    expect(Object.entries(rest).filter(([, may]) => !may)).toEqual([]);
    expect(Object.entries(reported(noPermissions)).filter(([, may]) => may)).toEqual([]);
  }
  const owners = Object.entries(teamPermissions(all, { owners: true })).filter(([, may]) => !may);
  expect(owners.map(([name]) => name)).toEqual(['can-destroy', 'can-update-visibility', 'can-update-name']);
});

it('modules are deployed without code by callers that can create workspaces and read the registry', () => {
  const mayDeploy = (...granted: Permission[]) =>
    organizationPermissions(new Set(granted))['can-deploy-no-code-modules'];
  expect(mayDeploy('workspace:create', 'registry:read')).toBe(true);
  expect([mayDeploy('workspace:create'), mayDeploy('registry:read')]).toEqual([false, false]);
});

it.each(['user', 'session', 'team', 'organization', 'run'] as const)(
  'actions of people are for users only: %s',
  (kind) => {
    const check = () => checkPerson({ kind } as never);
    if (kind === 'user') check();
    else expect(check).toThrow("needs a user's token");
  },
);

describe('a team', () => {
  const sees = (standing: Standing, seen: Team) => onTeam(standing, seen).has('team:read');
  it('that is secret is visible to owners, its members and users with permission to read secret teams', () => {
    const [secret, open] = [team(), team({ visibility: 'organization' })];
    const other = team({ id: 'team-2' });
    const seer = team({ id: 'team-3', organizationAccess: ['access-secret-teams'] });
    expect([owner, organization, memberOf(secret), memberOf(seer)].map((one) => sees(one, secret))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([memberOf(other), memberOf()].map((one) => sees(one, secret))).toEqual([false, false]);
    expect(sees(memberOf(other), open)).toBe(true);
  });

  it('of owners can be changed only by owners, and its access by no user', () => {
    const owners = team({ id: 'team-owners', owners: true, visibility: 'organization' });
    const manager = memberOf(
      team({ organizationAccess: ['manage-membership', 'manage-teams', 'manage-organization-access'] }),
    );
    const changes: Permission[] = ['team:write', 'team:manage-members', 'team:manage-access'];
    expect(has(onTeam(owner, owners), 'team:read', ...changes)).toEqual([true, true, true, false]);
    for (const standing of [organization, manager])
      expect(has(onTeam(standing, owners), 'team:read', ...changes)).toEqual([true, false, false, false]);
    expect(has(onTeam(manager, team({ visibility: 'organization' })), ...changes)).toEqual([true, true, true]);
    expect(has(onTeam(owner, team()), ...changes)).toEqual([true, true, true]);
  });

  it('lets members manage its tokens if it allows that, except the owners team', () => {
    const managed = (change: Partial<Team>) => onTeam(memberOf(team(change)), team(change)).has('team:manage-tokens');
    expect(managed({})).toBe(true);
    expect(managed({ allowMemberTokenManagement: false })).toBe(false);
    expect(managed({ owners: true })).toBe(false);
    expect(
      onTeam(memberOf(team({ id: 'team-2' })), team({ visibility: 'organization' })).has('team:manage-tokens'),
    ).toBe(false);
  });

  it('shows its access to its members, and only visible access can be managed', () => {
    const granted = onOrganization(owner);
    const access: Permission[] = ['workspace:read-teams', 'workspace:manage-teams', 'project:manage-teams'];
    expect(has(onTeamAccess(owner, granted, team()), ...access)).toEqual([true, true, true]);
    expect(has(onTeamAccess(memberOf(), granted, team()), 'workspace:read', ...access), 'hidden').toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(has(onTeamAccess(owner, granted, undefined), ...access), 'a team that is gone').toEqual([
      false,
      false,
      false,
    ]);
    const own = onTeamAccess(memberOf(team()), noPermissions, team());
    expect(has(own, 'workspace:read-teams', 'project:read-teams', 'workspace:manage-teams')).toEqual([
      true,
      true,
      false,
    ]);
    const other = onTeamAccess(memberOf(team({ id: 'team-2' })), noPermissions, team({ visibility: 'organization' }));
    expect(has(other, 'workspace:read-teams')).toEqual([false]);
  });
});
