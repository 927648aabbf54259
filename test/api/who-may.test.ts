import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Granted } from '../../functions/api/permissions/granted.ts';
import type { Permission } from '../../functions/api/permissions/permissions.ts';
import type { Route } from '../../functions/api/route.ts';
import { type Api, startApi } from '../support/api.ts';
import { type Frozen, freeze } from '../support/frozen-table.ts';
import { type Caller, makeCallers } from '../support/roles.ts';
import { bodyIn, fillPath, makeWorld, namedIn, type World } from '../support/world.ts';

/**
 * Every route, asked by everybody whom the table of permissions tells apart, of one of everything: what is answered is
 * what the table says. The world is built once, then frozen: reads are answered from memory, writes fail, so that what
 * somebody may do can be tried without being done.
 */

let api: Api;
let world: World;
let unknown: World;
let callers: Caller[];
let guarded: Route[];
let frozen: Frozen;
const expected = new Map<string, (route: Route) => Granted>();

const ofRegistry = [
  'registry module',
  'registry provider',
  'registry provider version',
  'registry provider platform',
  'module',
  'provider',
  'GPG key',
  'test run',
  'no-code module',
];

/** What a route's subject is to somebody, by the table alone. */
const grantedTo = async ({ role, userId }: Caller): Promise<(route: Route) => Granted> => {
  const granted = await import('../../functions/api/permissions/granted.ts');
  const { standingOf } = await import('../../functions/access/standing.ts');
  const { getTeam } = await import('../../functions/people/teams/records.ts');
  const { getProject } = await import('../../functions/projects/records.ts');
  const { getWorkspace } = await import('../../functions/workspaces/records.ts');
  const { getEndedWorkspace } = await import('../../functions/removal/workspaces.ts');
  const standing = role === 'owner' ? { role, teams: [] } : await standingOf(userId ?? '', 'acme');
  const project = await getProject(world.project ?? '');
  const team = await getTeam(world.team ?? '');
  const organization = granted.onOrganization(standing as never);
  const onProject = granted.onProject(standing as never, project);
  const onWorkspace = granted.onWorkspace(standing as never, await getWorkspace(world.workspace ?? ''), project);
  const deleted = await getEndedWorkspace((world.recoverableItem ?? '').replace('ri-', 'ws-'));
  const onDeleted = granted.onWorkspace(standing as never, deleted, project);
  const onTeam = team ? granted.onTeam(standing as never, team) : granted.noPermissions;
  const onVariableSet = onWorkspace.has('variable:read') ? new Set([...organization, 'varset:read']) : organization;
  const byWhat: Record<string, Granted> = {
    organization,
    policy: organization,
    'policy set': organization,
    'policy set version': organization,
    'run task': organization,
    subscription: organization,
    'agent pool': organization,
    'SSH key': organization,
    'reserved tag key': organization,
    view: organization,
    'provider set': organization,
    ...Object.fromEntries(ofRegistry.map((what) => [what, organization])),
    agent: organization,
    'OAuth client': organization,
    'OAuth token': organization,
    'GitHub App installation': organization,
    'organization membership': organization,
    project: onProject,
    team: onTeam,
    'variable set': onVariableSet as Granted,
    'recoverable item': onDeleted,
  };
  return ({ method, path, finder }) => {
    // The body names the project that the new workspace is to be in.
    if (method === 'POST' && /\/\{(organization|noCode)\}\/workspaces$/.test(path)) return onProject;
    if (path.includes('/team-projects/')) return onProject;
    return byWhat[finder?.what ?? ''] ?? onWorkspace;
  };
};

beforeAll(async () => {
  api = await startApi();
  const { routes } = await import('../../functions/public-api/all-routes.ts');
  guarded = routes.filter(({ access }) => access !== 'anyone');
  world = await makeWorld(api);
  const other = (id: string) => (id === 'acme' ? id : id.replace(/\w$/, (last) => (last === 'x' ? 'y' : 'x')));
  unknown = Object.fromEntries(Object.entries(world).map(([name, id]) => [name, other(id)]));
  callers = await makeCallers({ workspace: world.workspace ?? '', project: world.project ?? '' }, api.token);
  for (const caller of callers) expected.set(caller.role, await grantedTo(caller));
  frozen = freeze();
});
afterAll(async () => {
  frozen.thaw();
  await api.close();
});

const ask = ({ method, path }: Route, things: World, token: string | null) => {
  const { query } = namedIn(things);
  return api.call(method, `${fillPath(path, things)}?${query}`, { token, body: bodyIn(path, things) });
};

const seenOf = ({ finder }: Route): Permission => {
  const permission = finder?.visibleWith;
  // The one that finds workspaces and organizations is asked for a workspace here.
  return typeof permission === 'function' ? 'run:read' : (permission as Permission);
};

const isMissing = (text: string | undefined, what: string) =>
  text?.startsWith(`${what.charAt(0).toUpperCase()}${what.slice(1)} `) &&
  text.endsWith("not found, or you don't have access.");

/** A body without the ids of the request. */
const withoutIds = (body: unknown, things: World): unknown =>
  Object.entries(things).reduce((text, [name, id]) => text.replaceAll(id, `{${name}}`), JSON.stringify(body));

type Verdict = 'allowed' | 401 | 403 | 404;

const verdictOf = (route: Route, { status, body }: Awaited<ReturnType<typeof ask>>): Verdict => {
  const detail: string | undefined = body?.errors?.[0]?.detail;
  if (status === 401) return 401;
  if (status === 404 && isMissing(detail, route.finder?.what ?? '')) return 404;
  return status === 403 && detail?.endsWith(`needs the permission ${route.access}.`) ? 403 : 'allowed';
};

const expectedOf = (route: Route, { role, token }: Caller): Verdict => {
  if (token === null) return 401;
  if (!route.finder) return 'allowed';
  const granted = expected.get(role)?.(route);
  if (!granted?.has(seenOf(route))) return 404;
  return granted.has(route.access as Permission) ? 'allowed' : 403;
};

it('enforces the permission table for every role on every route', async () => {
  for (const caller of callers) {
    const told: string[] = [];
    const should: string[] = [];
    for (const route of guarded) {
      const name = `${route.method} ${route.path}`;
      told.push(`${name} ${verdictOf(route, await ask(route, world, caller.token))}`);
      should.push(`${name} ${expectedOf(route, caller)}`);
    }
    expect({ role: caller.role, told }).toEqual({ role: caller.role, told: should });
  }
});

it.each(['member', 'member of a team that has nothing', 'owner elsewhere', 'manage-run-tasks'])(
  'answers a %s the same for hidden and missing resources, after equally many reads',
  async (role) => {
    const caller = callers.find((one) => one.role === role) as Caller;
    const hidden = guarded.filter((route) => expectedOf(route, caller) === 404);
    expect(hidden.length).toBeGreaterThan(20);
    for (const route of hidden) {
      const answers = [];
      for (const things of [world, unknown]) {
        const before = frozen.reads;
        const { status, body } = await ask(route, things, caller.token);
        answers.push({ path: route.path, status, body: withoutIds(body, things), reads: frozen.reads - before });
      }
      expect(answers[0]).toEqual(answers[1]);
    }
  },
);

describe("the permission table, sampled against HCP Terraform's documentation", () => {
  const may = (role: string, method: string, path: string): Verdict => {
    const route = guarded.find((one) => one.method === method && one.path === `/api/v2/${path}`);
    const caller = callers.find((one) => one.role === role);
    if (!route || !caller) throw new Error(`no ${role}, or no ${method} ${path}`);
    return expectedOf(route, caller);
  };

  it.each<[string, string, string, Verdict]>([
    ['workspace plan', 'POST', 'runs', 'allowed'],
    ['workspace plan', 'POST', 'runs/{run}/actions/apply', 403],
    ['workspace write', 'POST', 'runs/{run}/actions/apply', 'allowed'],
    ['workspace write', 'POST', 'runs/{run}/actions/force-execute', 'allowed'],
    ['workspace write', 'POST', 'runs/{run}/actions/force-cancel', 403],
    ['workspace write', 'POST', 'workspaces/{workspace}/actions/lock', 'allowed'],
    ['workspace write', 'POST', 'workspaces/{workspace}/actions/force-unlock', 403],
    ['workspace write', 'POST', 'workspaces/{workspace}/tasks', 403],
    ['workspace admin', 'POST', 'runs/{run}/actions/force-cancel', 'allowed'],
    ['workspace admin', 'POST', 'policy-checks/{check}/actions/override', 403],
    ['workspace admin', 'GET', 'plans/{plan}/json-output', 'allowed'],
    ['workspace write', 'GET', 'plans/{plan}/json-output', 403],
    ['manage-policy-overrides', 'POST', 'policy-checks/{check}/actions/override', 'allowed'],
    ['manage-policies', 'GET', 'runs/{run}', 'allowed'],
    ['manage-policies', 'GET', 'workspaces/{workspace}/vars', 403],
    ['workspace read', 'GET', 'policies/{policy}', 404],
    ['workspace custom: runs read', 'GET', 'workspaces/{workspace}/current-state-version', 403],
    ['workspace custom: state-versions read-outputs', 'GET', 'workspaces/{workspace}/current-state-version', 403],
    ['workspace custom: variables read', 'POST', 'workspaces/{workspace}/vars', 403],
    ['project write', 'DELETE', 'workspaces/{workspace}', 403],
    ['project maintain', 'DELETE', 'workspaces/{workspace}', 'allowed'],
    ['project maintain', 'PATCH', 'projects/{project}', 403],
    ['project admin', 'DELETE', 'projects/{project}', 'allowed'],
    ['project custom: delete true', 'DELETE', 'workspaces/{workspace}', 'allowed'],
    ['manage-workspaces', 'POST', 'organizations/{organization}/workspaces', 403],
    ['manage-projects', 'POST', 'organizations/{organization}/workspaces', 'allowed'],
    ['manage-workspaces', 'PATCH', 'organizations/{organization}', 403],
    ['organization token', 'POST', 'runs', 403],
    ['organization token', 'POST', 'workspaces/{workspace}/configuration-versions', 403],
    ['organization token', 'GET', 'plans/{plan}/json-output', 403],
    ['organization token', 'POST', 'organizations/{organization}/teams', 'allowed'],
    ['flags about what is not here', 'GET', 'workspaces/{workspace}', 404],
    ['member', 'GET', 'organizations/{organization}', 'allowed'],
    ['manage-vcs-settings', 'POST', 'organizations/{organization}/ssh-keys', 'allowed'],
    ['workspace admin', 'PATCH', 'workspaces/{workspace}/relationships/ssh-key', 'allowed'],
    ['workspace admin', 'GET', 'ssh-keys/{sshKey}', 404],
    ['workspace admin', 'DELETE', 'organizations/{organization}/tags', 403],
    ['manage-workspaces', 'DELETE', 'organizations/{organization}/tags', 'allowed'],
    ['organization token', 'POST', 'organizations/{organization}/cidr-range-lists', 'allowed'],
    ['manage-organization-access', 'PATCH', 'cidr-range-lists/{cidrRangeList}', 404],
    ['manage-agent-pools', 'GET', 'organizations/{organization}/cidr-range-lists', 403],
    ['workspace read', 'PATCH', 'reserved-tag-keys/{reservedTagKey}', 403],
  ])('%s: %s %s is %s', (role, method, path, verdict) => {
    expect(may(role, method, path)).toBe(verdict);
  });
});
