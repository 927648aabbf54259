import { describe, expect, it } from 'vitest';
import type { Route } from '#api/route.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { fillPath, makeWorld } from '#test/support/world.ts';

/** Every query parameter is applied, or rejected by name. */

const api = await startApi();
const world = await makeWorld(api);
const { routes } = await import('#public-api/all-routes.ts');
const all = routes.filter(({ path, access }) => path.startsWith('/api/v2/') && access !== 'anyone');
const reads: Route[] = all.filter(({ method }) => method === 'GET');
const writes: Route[] = all.filter(({ method }) => method !== 'GET');

const targetOf = ({ method, path }: Route): string => `${method} ${path.replace('/api/v2', '')}`;

/** Required parameters of routes. */
const required = ({ path }: Route): Record<string, string> => {
  if (path.endsWith('/api/v2/state-versions')) {
    return { 'filter[organization][name]': 'acme', 'filter[workspace][name]': world.name ?? '' };
  }
  if (path.endsWith('/team-workspaces')) return { 'filter[workspace][id]': world.workspace ?? '' };
  if (path.endsWith('/team-projects')) return { 'filter[project][id]': world.project ?? '' };
  if (path.endsWith('/run-triggers')) return { 'filter[run-trigger][type]': 'inbound' };
  if (/\/explorer(\/export\/csv)?$/.test(path)) return { type: 'workspaces' };
  if (path.endsWith('/api/v2/runs')) return { workspace_id: world.workspace ?? '' };
  return {};
};

const get = (one: Route, query: Record<string, string>) =>
  api.get(`${fillPath(one.path, world)}?${new URLSearchParams({ ...required(one), ...query })}`);

it('every include that a route declares is in its path list', () => {
  const including = [...reads, ...writes].filter(({ query }) => query?.include);
  expect(including.length).toBeGreaterThan(50);
  const without = including.filter(({ query }) => typeof query?.include !== 'object' || !('paths' in query.include));
  expect(without.map(targetOf)).toEqual([]);
});

it.each([
  'filter[no-such]',
  'scope[no-such]',
  'include',
  'sort',
  'search[no-such]',
  'q[no-such]',
  'filter[no-such][0][key]',
])(
  'every route rejects %s by name with 400',
  async (name) => {
    const wrong: string[] = [];
    const words = name === 'include' ? /^Invalid include parameter/ : /^(?!Invalid include).{20}/;
    for (const one of reads) {
      const { status, body } = await get(one, { [name]: 'no-such' });
      const error = body?.errors?.[0];
      const right = status === 400 && error?.source?.parameter === name && words.test(error.detail);
      // A 404 for a missing resource takes precedence.
      if (!right && status !== 404) wrong.push(`${targetOf(one)} ${status} ${JSON.stringify(body)?.slice(0, 200)}`);
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);

it('a request that writes has its includes checked before the write', async () => {
  const { checkParameters } = await import('#api/query-parameters.ts');
  const including = writes.filter(({ query }) => query?.include);
  expect(including.length).toBeGreaterThan(10);
  for (const one of including) {
    const check = () => checkParameters(new URLSearchParams({ include: 'no-such' }), one.query ?? {});
    expect(check, targetOf(one)).toThrow(/Invalid include parameter: no_such. Known: [a-z]/);
  }
  const rename = { data: { type: 'tasks', attributes: { name: 'renamed' } } };
  const answer = await api.patch(`tasks/${world.task}?include=no-such`, rename);
  expect(answer.status).toBe(400);
  expect((await api.get(`tasks/${world.task}`)).body.data.attributes.name).not.toBe('renamed');
});

it('the declarations list exactly the parameters that routes read', async () => {
  const { get: original } = URLSearchParams.prototype;
  const wrong: string[] = [];
  // Read only under conditions: without a workspace, with a tag, with limited access to the state, with a connection.
  const later = [
    'branch',
    'organization_name',
    'filter[tag-union]',
    'filter[tag-value-default-null]',
    'show_only_configured',
    // Parameter of a list that is always empty.
    'search',
    'category',
    'include_inactive',
  ];
  for (const one of reads) {
    const requestedNames = new Set<string>();
    URLSearchParams.prototype.get = function (name) {
      // Read by the local S3.
      if (name !== 'response-content-encoding') requestedNames.add(name);
      return original.call(this, name);
    };
    await get(one, {}).finally(() => {
      URLSearchParams.prototype.get = original;
    });
    const names = Object.keys(one.query ?? {});
    const unknown = [...requestedNames].filter((name) => !name.startsWith('page[') && !names.includes(name));
    const unread = names.filter((name) => !requestedNames.has(name) && !name.includes('[*]') && !later.includes(name));
    wrong.push(...[...unknown, ...unread].map((name) => `${targetOf(one)} ${name}`));
  }
  expect(wrong).toEqual([]);
});

describe('parameter values', () => {
  const organization = 'organizations/acme';
  it.each([
    [`${organization}/policies`, 'filter[kind]', 'tfpolicy'],
    [`${organization}/policies`, 'sort', 'created-at'],
    [`${organization}/policy-sets`, 'filter[kind]', 'opa,sentinel'],
    [`${organization}/policy-sets`, 'filter[versioned]', 'yes'],
    [`${organization}/projects`, 'sort', 'created-at'],
    [`${organization}/varsets`, 'scope', 'all'],
    [`${organization}/varsets`, 'filter[global]', '1'],
    [`${organization}/organization-memberships`, 'filter[status]', 'active,gone'],
    [`${organization}/runs`, 'filter[source]', 'terraform-cli'],
    [`${organization}/workspaces`, 'filter[current-run][status]', 'applied,done'],
    [`${organization}/workspaces`, 'filter[tagged][0][value]', 'x'],
    [`${organization}/workspaces`, 'include', 'secrets'],
    [`${organization}/team-tokens`, 'filter[expiry_status]', 'soon'],
  ])('are checked: %s rejects %s=%s with 400', async (path, name, value) => {
    const { status, body } = await api.get(`${path}?${new URLSearchParams({ [name]: value })}`);
    expect(status).toBe(400);
    expect(body.errors[0].source.parameter).toBe(name.replace('[value]', '[key]'));
  });

  it('may be left empty', async () => {
    const empty = 'sort=&q=&filter[names]=&include=&filter[no-such]=';
    expect((await api.get(`${organization}/teams?${empty}`)).body.data.length).toBeGreaterThan(0);
  });

  it('of unknown plain parameters are ignored: Terraform sends TagBindings={0xc000}', async () => {
    expect((await api.get(`${organization}/teams?TagBindings=%7B0xc000%7D`)).status).toBe(200);
    expect((await api.get(`${organization}/teams?SubscribableChoice[Workspace][Name]=x`)).status).toBe(200);
    expect((await api.get(`${organization}/teams?scope=owned`)).status).toBe(400);
    expect((await api.get(`${organization}/teams?filter[nothing]=x`)).status).toBe(400);
  });

  it('are rejected when a parameter is repeated', async () => {
    const answer = await api.get(`${organization}/workspaces?search[tags]=a&search[tags]=b`);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0].detail).toMatch(/more than once/);
  });
});

describe('filter[tagged]', () => {
  const name = () => uniqueName('tagged');
  const tagged = async (...tags: [key: string, value: string][]) =>
    (
      await api.post(
        'organizations/acme/workspaces',
        { name: name() },
        { 'tag-bindings': { data: tags.map(([key, value]) => ({ attributes: { key, value } })) } },
      )
    ).body.data.id as string;
  const search = async (query: Record<string, string>) => {
    const { body } = await api.get(`organizations/acme/workspaces?${new URLSearchParams(query)}`);
    return (body.data as { id: string }[]).map(({ id }) => id).sort();
  };

  it('finds workspaces by keys, by keys and values, by any of them, and by keys without a value', async () => {
    const both = await tagged(['team', 'net'], ['tier', '']);
    const one = await tagged(['team', 'web']);
    const pair = { 'filter[tagged][0][key]': 'team', 'filter[tagged][0][value]': 'web' };
    expect(await search({ 'filter[tagged]': 'team' })).toEqual([both, one].sort());
    expect(await search({ 'filter[tagged]': 'team,tier' })).toEqual([both]);
    expect(await search(pair)).toEqual([one]);
    expect(await search({ ...pair, 'filter[tagged][1][key]': 'tier' })).toEqual([]);
    expect(await search({ ...pair, 'filter[tagged][1][key]': 'tier', 'filter[tag-union]': 'true' })).toEqual(
      [both, one].sort(),
    );
    const none = { 'filter[tag-value-default-null]': 'true' };
    expect(await search({ 'filter[tagged][0][key]': 'team', ...none })).toEqual([]);
    expect(await search({ 'filter[tagged][0][key]': 'tier', ...none })).toEqual([both]);
  });
});

it('the list of policies can be sorted by name and by time', async () => {
  const names = { first: uniqueName('sorted-a'), second: uniqueName('sorted-b') };
  for (const name of Object.values(names)) {
    await api.post('organizations/acme/policies', {
      name,
      kind: 'opa',
      query: 'data.a',
      'enforcement-level': 'advisory',
    });
  }
  const sorted = async (sort: string) => {
    const { body } = await api.get(`organizations/acme/policies?search[name]=sorted&sort=${sort}`);
    return (body.data as { attributes: { name: string } }[]).map(({ attributes }) => attributes.name);
  };
  expect(await sorted('name')).toEqual([names.first, names.second]);
  expect(await sorted('-name')).toEqual([names.second, names.first]);
  expect(await sorted('-updated-at')).toEqual([names.second, names.first]);
});

it('the list of projects includes tags on request', async () => {
  const tags = { 'tag-bindings': { data: [{ attributes: { key: 'team', value: 'net' } }] } };
  const { id } = (await api.post('organizations/acme/projects', { name: uniqueName('Tagged') }, tags)).body.data;
  for (const path of [`projects/${id}`, 'organizations/acme/projects?page[size]=100']) {
    const { body } = await api.get(`${path}${path.includes('?') ? '&' : '?'}include=effective_tag_bindings`);
    const document = [body.data].flat().find((one: { id: string }) => one.id === id);
    const bindings = document.relationships['effective-tag-bindings'].data;
    expect(bindings).toHaveLength(1);
    expect(body.included.find((one: { id: string }) => one.id === bindings[0].id).attributes).toEqual({
      key: 'team',
      value: 'net',
    });
  }
});

it('the list of organizations can be searched by e-mail address', async () => {
  const names = async (query: string) =>
    ((await api.get(`organizations?${query}`)).body.data as { id: string }[]).map(({ id }) => id);
  expect(await names('q=owner@acme')).toEqual(['acme']);
  expect(await names('q[email]=acme.test')).toEqual(['acme']);
  expect(await names('q[name]=owner@')).toEqual([]);
});
