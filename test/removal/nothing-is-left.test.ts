import { afterEach, expect, it, vi } from 'vitest';
import type { FunctionId } from '#infra/stack/functions.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { handlerOf } from '#test/support/handlers.ts';
import { bodyIn, fillPath, makeWorld, type World } from '#test/support/world.ts';

/**
 * After every deletion, no item of the table and no object of the bucket contains the id of the deleted resource,
 * once the sweep and the functions that it starts have finished. Only the audit trail keeps ids.
 */

const api = await startApi();
const { remove: removeItem } = await import('#platform/store/table.ts');
const keyOf = ({ pk, sk }: Record<string, unknown>): string => `${pk} ${sk}`;
const common = new Set(api.aws.items().map(keyOf));
afterEach(async () => {
  vi.useRealTimers();
  // Later sweeps would work for each former world, too: some four of five seconds.
  const ofWorld = api.aws.items().filter((item) => !common.has(keyOf(item)));
  await Promise.all(ofWorld.map(({ pk, sk }) => removeItem({ pk: String(pk), sk: String(sk) })));
});

interface Deletion {
  /** The deleted resource in the world, if it is not the path's last parameter. */
  id?: string;
  /** Items whose sort key matches may keep the id. */
  keeps?: RegExp;
}

/** The history of runs, configurations and states stays, without content, and the API does not reach it. */
const history = /^(RUN|CV|SV|PE)(#|$)/;

const registryModule = '/api/v2/organizations/{organization}/registry-modules/{registry}/{namespace}/{moduleName}';
const registryProvider =
  '/api/v2/organizations/{organization}/registry-providers/{registry}/{namespace}/{providerName}';
const moduleTests = '/api/v2/organizations/{organization}/tests/registry-modules/{registry}/{namespace}';

/** Deletions of resources that contain no other one of these, in one world. */
const leaves: Record<string, Deletion> = {
  '/api/v2/workspaces/{workspace}/vars/{variable}': {},
  '/api/v2/organization-memberships/{membership}': {},
  '/api/v2/team-workspaces/{grant}': { id: 'team-workspaces' },
  '/api/v2/team-projects/{grant}': { id: 'team-projects' },
  '/api/v2/varsets/{varset}/relationships/vars/{variable}': { id: 'variable of the set' },
  '/api/v2/reserved-tag-keys/{reservedTagKey}': {},
  '/api/v2/ssh-keys/{sshKey}': {},
  '/api/v2/run-triggers/{trigger}': {},
  '/api/v2/notification-configurations/{notification}': {},
  '/api/v2/cidr-ranges/{cidrRange}': {},
  '/api/v2/organizations/{organization}/explorer/views/{view}': {},
  '/api/v2/policies/{policy}': {},
  '/api/v2/policy-sets/{policySet}/parameters/{parameter}': {},
  '/api/v2/plan-exports/{planExport}': {},
  [`${registryProvider}/versions/{providerVersion}/platforms/{os}/{arch}`]: { id: 'platform' },
  [`${moduleTests}/{moduleName}/{moduleProvider}/vars/{variable}`]: { id: 'variable of the tests' },
  '/api/v2/oauth-tokens/{oauthToken}': {},
  '/api/v2/organizations/{organization}/github-app-installations/{installation}': {},
  '/api/v2/admin/opa-versions/{version}': { id: 'opa-versions' },
  '/api/v2/admin/sentinel-versions/{version}': { id: 'sentinel-versions' },
  // Banners are deactivated and stay in the list.
  '/api/v2/admin/banners/{banner}': { keeps: /^BANNERS$/ },
};

/** Deletions of what may contain or use others: those in one world have nothing to do with one another. */
const containers: Record<string, Deletion>[] = [
  // The marker reserves the name.
  { '/api/v2/organizations/{organization}': { keeps: /^(RUN|CV|SV|PE)(#|$)|^ORG(NAME)?$/ } },
  // A project can be deleted only without workspaces.
  { '/api/v2/workspaces/{workspace}': { keeps: history }, '/api/v2/projects/{project}': { keeps: history } },
  { '/api/v2/organizations/{organization}/workspaces/{name}': { id: 'workspace', keeps: history } },
  {
    '/api/v2/teams/{team}': {},
    '/api/v2/agent-pools/{pool}': {},
    '/api/v2/varsets/{varset}': {},
    // The result of a task that a run has requested belongs to the run. A task can be deleted only without uses.
    '/api/v2/workspaces/{workspace}/tasks/{wstask}': { keeps: /^TASKRESULT#/ },
    '/api/v2/tasks/{task}': { keeps: /^TASKRESULT#/ },
    '/api/v2/policy-sets/{policySet}': {},
    '/api/v2/provider-sets/{providerSet}': {},
    // A test run is a run.
    [registryModule]: { id: 'module', keeps: /^RUN$/ },
  },
  {
    '/api/v2/cidr-range-lists/{cidrRangeList}': {},
    [registryProvider]: { id: 'provider' },
    // A key can be deleted only without providers.
    '/api/registry/private/v2/gpg-keys/{namespace}/{keyId}': {},
    [`${registryModule}/{moduleProvider}`]: { id: 'module', keeps: /^RUN$/ },
  },
  {
    [`${registryProvider}/versions/{providerVersion}`]: { id: 'provider version' },
    // The last version, and so the module.
    [`${registryModule}/{moduleProvider}/{moduleVersion}`]: { id: 'module version' },
  },
  {
    // A workspace records which module it was created from.
    '/api/v2/no-code-modules/{noCode}': { keeps: /^WS$/ },
    '/api/v2/oauth-clients/{oauthClient}': {},
  },
];

/** Every route that deletes one resource. */
const deletions: Record<string, Deletion> = Object.assign({}, leaves, ...containers);

/** Routes of the account, or deletions that are rejected while in use: covered by their own tests. */
const elsewhere = [
  '/api/v2/account/identities/{identity}',
  '/api/v2/authentication-tokens/{token}',
  '/api/v2/agents/{agent}',
];

const later: Record<string, FunctionId> = {
  DataRetentionFunction: 'DataRetention',
  VersionControlEventFunction: 'VersionControlEvent',
};

/** Runs the sweep and the functions that it starts: an hour, a week and more after the deletion. */
const settle = async (): Promise<void> => {
  const { handler: sweep } = await import('#lifecycle/repair/sweep.ts');
  const began = Date.now();
  // Ends the world's run.
  api.aws.executionStatus = () => 'ABORTED';
  for (const hours of [1, 2, 24 * 8, 24 * 8 + 1, 24 * 8 + 2, 24 * 8 + 3]) {
    vi.useFakeTimers({ toFake: ['Date'], now: began + hours * 3_600_000 });
    await sweep();
    for (const { name, event } of api.aws.invoked.splice(0)) {
      const id = later[name];
      if (id) await (await handlerOf(id))(event as never, {} as never);
    }
  }
  vi.useRealTimers();
};

/** A secret and an address that belong to the team or project. */
const notify = (owner: string) =>
  api.post(`${owner}/notification-configurations`, {
    name: 'n',
    'destination-type': 'generic',
    url: 'https://example.test/',
    token: 'hook',
  });

const remove = async (path: string, world: World): Promise<void> => {
  const { status, body } = await api.call('DELETE', fillPath(path, world), { body: bodyIn(path, world) });
  const isDeleted = status >= 200 && status < 300;
  expect({ path, isDeleted, body: isDeleted ? '' : body }).toEqual({ path, isDeleted: true, body: '' });
};

const idIn = (path: string, { id }: Deletion, world: World): string =>
  id ? (world[id] ?? '') : decodeURIComponent(fillPath(path, world).split('/').at(-1) ?? '');

it('every route that deletes one resource is listed here', async () => {
  const { routes } = await import('#public-api/all-routes.ts');
  const ofOne = routes.filter(({ method, path }) => method === 'DELETE' && /\{\w+\}$/.test(path));
  const paths = new Set(ofOne.map(({ path }) => path));
  expect([...Object.keys(deletions), ...elsewhere].sort()).toEqual([...paths].sort());
});

const newWorld = async (): Promise<World> => {
  const organization = uniqueName('org');
  await api.post('organizations', { name: organization, email: 'a@b.test' });
  const world = await makeWorld(api, organization);
  for (const owner of [`teams/${world.team}`, `projects/${world.project}`])
    expect((await notify(owner)).status).toBe(201);
  const body = { data: [{ type: 'projects', id: world.project }] };
  const sets = [`policy-sets/${world.policySet}`, `varsets/${world.varset}`, `provider-sets/${world.providerSet}`];
  for (const set of sets) expect((await api.call('POST', `${set}/relationships/projects`, { body })).status).toBe(204);
  return world;
};

/** Keys of items and objects that contain the id. */
const leftOf = (id: string, keeps?: RegExp): string[] => {
  const items = api.aws.items(id).filter(({ pk, sk }) => !String(pk).startsWith('AUDIT#') && !keeps?.test(String(sk)));
  return [...items.map(keyOf), ...api.storage.objects().filter((key) => key.includes(id))];
};

const isBanner = (path: string): boolean => path === '/api/v2/admin/banners/{banner}';

it.each([leaves, ...containers].map((group) => [Object.keys(group).join(', '), group] as const))(
  'DELETE %s leaves nothing',
  async (_, group) => {
    const world = await newWorld();
    const ids = Object.entries(group).map(([path, one]) => [path, idIn(path, one, world), one.keeps] as const);
    for (const [path, id, keeps] of ids) if (!isBanner(path)) expect([path, leftOf(id, keeps)]).not.toEqual([path, []]);
    for (const path of Object.keys(group)) await remove(path, world);
    await settle();
    for (const [path, id, keeps] of ids) expect([path, leftOf(id, keeps)]).toEqual([path, []]);
  },
);

/** Deletions that the sweep continues after an interruption, with the calls after which they are interrupted. */
const continued: [string, number[]][] = [
  ['workspaces/{workspace}', [6, 10, 15, 25]],
  ['organizations/{organization}', [6, 10, 15, 25, 40]],
  ['teams/{team}', [6, 10, 15]],
  ['policy-sets/{policySet}', [6, 10]],
  ['agent-pools/{pool}', [6, 10]],
  ['varsets/{varset}', [6, 10]],
];

it.each(continued.flatMap(([path, stops]) => stops.map((calls) => [path, calls] as const)))(
  'DELETE %s that stops after %i calls leaves nothing',
  async (name, calls) => {
    const path = `/api/v2/${name}`;
    const deletion = deletions[path] ?? {};
    const world = await newWorld();
    const id = idIn(path, deletion, world);
    api.aws.failCall(calls, 'after');
    await api.call('DELETE', fillPath(path, world));
    expect(api.aws.pendingFault).toBe(false);
    await settle();
    expect(leftOf(id, deletion.keeps)).toEqual([]);
  },
);

it('a deleted workspace no longer uses its agent pool, which can be deleted then', async () => {
  const world = await newWorld();
  const path = `workspaces/${world.workspace}`;
  const used = await api.patch(path, { 'execution-mode': 'agent', 'agent-pool-id': world.pool });
  expect(used.status).toBe(200);
  expect((await api.call('DELETE', `agent-pools/${world.pool}`)).status).not.toBe(204);
  await remove('/api/v2/workspaces/{workspace}', world);
  await remove('/api/v2/agent-pools/{pool}', world);
  await settle();
  expect(leftOf(world.workspace ?? '', history)).toEqual([]);
});
