import { afterAll, describe, expect, it } from 'vitest';
import type { Permission } from '#api/permissions/permissions.ts';
import type { Route } from '#api/route.ts';
import { startApi } from '#test/support/api.ts';
import { freeze } from '#test/support/frozen-table.ts';
import { permissionsOf, type Scope } from '#test/support/permission-table.ts';
import { type Caller, makeCallers } from '#test/support/roles.ts';
import { bodyIn, fillPath, makeWorld, namedIn, type World } from '#test/support/world.ts';

/**
 * Every route on one resource of every kind, called by every role of the permission table: the expected results come
 * from this test's own table (test/support/permission-table.ts), not from the product's. The world is built once,
 * then frozen: reads are answered from memory and writes fail, so that permissions can be tested without making the
 * changes.
 */

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

const ofOrganization = [
  'organization',
  'policy',
  'policy set',
  'policy set version',
  'run task',
  'subscription',
  'agent pool',
  'agent',
  'SSH key',
  'reserved tag key',
  'view',
  'provider set',
  'OAuth client',
  'OAuth token',
  'GitHub App installation',
  'organization membership',
  'SCIM configuration',
  'team',
  ...ofRegistry,
];

const isOnProject = ({ method, path, finder }: Route): boolean =>
  finder?.what === 'project' ||
  path.includes('/team-projects/') ||
  // It was in the world's project. A team's grant on a workspace ends with the workspace.
  finder?.what === 'recoverable item' ||
  // The body names the project of the new workspace.
  (method === 'POST' && /\/\{(organization|noCode)\}\/workspaces$/.test(path));

/** A caller's permissions on a route's subject, by this test's table (permission-table.ts). */
const grantedTo = (route: Route, role: string): ReadonlySet<string> => {
  const on = (scope: Scope) => permissionsOf(role, scope, permissions);
  if (isOnProject(route)) return on('project');
  const what = route.finder?.what ?? '';
  // Readers of a workspace's variables can read its variable sets.
  if (what === 'variable set') {
    const readsVariables = on('workspace').has('variable:read');
    return readsVariables ? new Set([...on('organization'), 'varset:read']) : on('organization');
  }
  return on(ofOrganization.includes(what) ? 'organization' : 'workspace');
};

const api = await startApi();
const { routes } = await import('#public-api/all-routes.ts');
const guarded: Route[] = routes.filter(({ access }) => access !== 'anyone');
const world = await makeWorld(api);
const other = (id: string) => (id === 'acme' ? id : id.replace(/\w$/, (last) => (last === 'x' ? 'y' : 'x')));
const unknown = Object.fromEntries(Object.entries(world).map(([name, id]) => [name, other(id)]));
const callers = await makeCallers(api, world);
const { permissions } = await import('#api/permissions/permissions.ts');
const frozen = freeze();
afterAll(() => frozen.thaw());

const ask = ({ method, path }: Route, things: World, token: string | null) => {
  const { query } = namedIn(things);
  return api.call(method, `${fillPath(path, things)}?${query}`, { token, body: bodyIn(path, things) });
};

const seenOf = ({ finder }: Route): Permission => {
  const permission = finder?.visibleWith;
  // The route that finds workspaces and organizations is called with a workspace here.
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
  const granted = grantedTo(route, role);
  if (!granted.has(seenOf(route))) return 404;
  return granted.has(String(route.access)) ? 'allowed' : 403;
};

it('the API enforces the permission table for every role on every route', async () => {
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
}, 400_000);

it.each(['member', 'member of a team that has nothing', 'owner elsewhere', 'manage-run-tasks'])(
  'a %s gets the same response for hidden and missing resources, after equally many reads',
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
    ['flags of unsupported features', 'GET', 'workspaces/{workspace}', 404],
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
