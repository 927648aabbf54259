/**
 * Permissions as HCP Terraform documents them (Permissions: organization, project and workspace permissions; API
 * tokens), written by hand: an oracle for the product's table, and not derived from it. A change of a cell changes a
 * permission.
 */

type Level = 'read' | 'plan' | 'write' | 'admin';
type ProjectLevel = 'read' | 'write' | 'maintain' | 'admin';

/** Levels of a team's access to a workspace that have the permission. */
const byWorkspaceLevel: Record<string, string> = {
  'workspace:read': 'read plan write admin',
  'run:read': 'read plan write admin',
  'configuration:read': 'read plan write admin',
  'variable:read': 'read plan write admin',
  'state:read-outputs': 'read plan write admin',
  'state:read': 'read plan write admin',
  'run:plan': 'plan write admin',
  'run:comment': 'plan write admin',
  'run:apply': 'write admin',
  'variable:write': 'write admin',
  'state:write': 'write admin',
  'workspace:lock': 'write admin',
  'plan:export': 'write admin',
  'workspace:manage-tasks': 'admin',
  'workspace:update': 'admin',
  'workspace:delete': 'admin',
  'workspace:tag': 'admin',
  'workspace:force-unlock': 'admin',
  'workspace:read-teams': 'admin',
  'workspace:manage-teams': 'admin',
  'run:force-cancel': 'admin',
  'plan:read-json': 'admin',
  'data:delete': 'admin',
};

/** The same for a team's access to a project: permissions on the project, and on each workspace in it. */
const byProjectLevel: Record<string, string> = {
  'project:read': 'read write maintain admin',
  'project:update': 'admin',
  'project:delete': 'admin',
  'project:read-teams': 'admin',
  'project:manage-teams': 'admin',
  'varset:read': 'write maintain admin',
  'varset:write': 'write maintain admin',
  'workspace:create': 'maintain admin',
  'workspace:move': 'admin',
};

/** The level on each workspace that a project's level includes. */
const onItsWorkspaces: Record<ProjectLevel, Level> = {
  read: 'read',
  write: 'write',
  maintain: 'admin',
  admin: 'admin',
};

const column = (table: Record<string, string>, level: string): string[] =>
  Object.keys(table).filter((permission) => table[permission]?.split(' ').includes(level));

const workspace = (level: Level): string[] => column(byWorkspaceLevel, level);
const project = (level: ProjectLevel): string[] => [
  ...column(byProjectLevel, level),
  ...workspace(onItsWorkspaces[level]),
];

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);

const reading = 'workspace:read run:read configuration:read';
const planning = `${reading} run:plan run:comment`;

/** A custom level whose other parts are the lowest: runs are readable. */
const byWorkspacePart: Record<string, string> = {
  'runs read': reading,
  'runs plan': planning,
  'runs apply': `${planning} run:apply`,
  'variables none': reading,
  'variables read': `${reading} variable:read`,
  'variables write': `${reading} variable:read variable:write`,
  'state-versions none': reading,
  'state-versions read-outputs': `${reading} state:read-outputs`,
  'state-versions read': `${reading} state:read-outputs state:read`,
  'state-versions write': `${reading} state:read-outputs state:read state:write`,
  'sentinel-mocks none': reading,
  'sentinel-mocks read': `${reading} plan:export`,
  'workspace-locking false': reading,
  'workspace-locking true': `${reading} workspace:lock`,
  'run-tasks false': reading,
  'run-tasks true': `${reading} workspace:manage-tasks`,
};

const seen = `project:read ${reading}`;
const byProjectPart: Record<string, string> = {
  'settings read': seen,
  'settings update': `${seen} project:update`,
  'settings delete': `${seen} project:update project:delete`,
  'teams none': seen,
  'teams read': `${seen} project:read-teams`,
  'teams manage': `${seen} project:read-teams project:manage-teams`,
  'variable-sets none': seen,
  'variable-sets read': `${seen} varset:read`,
  'variable-sets write': `${seen} varset:read varset:write`,
  'create false': seen,
  'create true': `${seen} workspace:create`,
  'move false': seen,
  'move true': `${seen} workspace:move`,
  'delete false': seen,
  'delete true': `${seen} workspace:delete`,
};

const members = 'membership:read membership:write team:manage-members';
const teams = `${members} team:write team:manage-tokens`;

/** A team's flags: on the organization alone, and on each project and workspace. */
const byFlag: Record<string, { organization?: string; everywhere?: string[] }> = {
  'manage-policies': { organization: 'policy:read policy:write', everywhere: words(reading) },
  'manage-workspaces': {
    organization: 'workspace:create organization:manage-tags explorer:read',
    everywhere: [...workspace('admin'), 'varset:read', 'varset:write'],
  },
  'manage-vcs-settings': { organization: 'ssh-key:read ssh-key:write connection:read connection:write' },
  'manage-policy-overrides': { everywhere: words(`${reading} run:override-policy`) },
  'manage-modules': { organization: 'registry:write-modules' },
  'manage-providers': { organization: 'registry:write-providers' },
  'manage-registry-components': { organization: 'registry:write-modules registry:write-providers' },
  'manage-run-tasks': { organization: 'task:read task:write' },
  'manage-projects': {
    organization: 'explorer:read provider-set:read provider-set:write',
    everywhere: [...project('admin'), 'project:create'],
  },
  'manage-membership': { organization: members },
  'manage-teams': { organization: teams },
  'manage-organization-access': { organization: `${teams} team:manage-access` },
  'access-secret-teams': { organization: 'team:read-secret' },
  'read-projects': { organization: 'explorer:read', everywhere: ['project:read'] },
  'read-workspaces': { organization: 'explorer:read', everywhere: [...workspace('read'), 'varset:read'] },
  'manage-agent-pools': { organization: 'agent-pool:read agent-pool:write' },
};

const member = 'organization:read organization:read-entitlements team:read';
const inTeam = `${member} task:read agent-pool:read registry:read reserved-tag-key:read connection:read`;

/** The organization token has no access to runs, plans, states and the organization's own settings. */
const notByOrganizationToken = words(`organization:update organization:delete organization:manage-tokens run:plan
  run:comment run:apply run:force-cancel run:override-policy plan:read-json plan:export state:write`);

export type Scope = 'organization' | 'project' | 'workspace';

const ofTeam = (role: string, scope: Scope): string[] => {
  const grant = /^(workspace|project) (?:custom: (workspaces )?)?(.+)$/.exec(role);
  if (!grant) {
    const flag = byFlag[role];
    if (!flag && role !== 'member of a team that has nothing' && role !== 'flags of unsupported features')
      throw new Error(`The permission table has no row for "${role}".`);
    return [...(scope === 'organization' ? words(flag?.organization ?? '') : []), ...(flag?.everywhere ?? [])];
  }
  const [, on, ofWorkspaces, what = ''] = grant;
  if (scope === 'organization' || (on === 'workspace' && scope !== 'workspace')) return [];
  const isCustom = role.includes('custom:');
  if (!isCustom) return on === 'workspace' ? workspace(what as Level) : project(what as ProjectLevel);
  const row = on === 'workspace' || ofWorkspaces ? byWorkspacePart[what] : byProjectPart[what];
  if (row === undefined) throw new Error(`The permission table has no row for "${role}".`);
  return words(`${row} ${on === 'project' ? 'project:read' : ''}`);
};

/** Permissions of a caller of roles.ts on a resource in the organization `acme`. */
export const permissionsOf = (role: string, scope: Scope, all: readonly string[]): ReadonlySet<string> => {
  if (role === 'owner') return new Set(all);
  if (role === 'organization token') return new Set(all.filter((one) => !notByOrganizationToken.includes(one)));
  if (role === 'no token' || role === 'owner elsewhere') return new Set();
  if (role === 'member') return new Set(words(member));
  return new Set([...words(inTeam), ...ofTeam(role, scope)]);
};
