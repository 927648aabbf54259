import { describe, expect, it } from 'vitest';
import type { Route } from '#api/route.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { fillPath, makeWorld, namedIn } from '#test/support/world.ts';

/** The attributes of a document are applied or rejected by name; read-only attributes are ignored. */

const api = await startApi();
const world = await makeWorld(api);
const { routes } = await import('#public-api/all-routes.ts');
const writes: Route[] = routes.filter(({ path, access, method }) => {
  const readsDocument = !/\/(actions|oauth|relationships\/(?!vars)\S+)(\/|$)|\/upload$|tag-bindings$|\/callback$/.test(
    path,
  );
  return path.startsWith('/api/v2/') && access !== 'anyone' && method !== 'GET' && method !== 'DELETE' && readsDocument;
});

/** Routes that read only relationships, or no body. */
const withoutAttributes = [
  'POST /api/v2/workspaces/{workspace}/run-triggers',
  'PATCH /api/v2/workspaces/{workspace}/state-versions',
  'PATCH /api/v2/workspaces/{workspace}/relationships/vars',
  'POST /api/v2/policy-sets/{policySet}/versions',
  'POST /api/v2/organizations/{organization}/audit-configuration/test',
  // Where the operator allows SAML: test/resources/sign-in/saml.
  'PATCH /api/v2/admin/saml-settings',
  // A list of plain objects.
  'POST /api/v2/policy-sets/{policySet}/tag-selectors',
  ...['cancel', 'force-cancel'].map(
    (verb) =>
      `POST /api/v2/organizations/{organization}/tests/registry-modules/{registry}/{namespace}/{moduleName}/{moduleProvider}/test-runs/{testRun}/${verb}`,
  ),
  'POST /api/v2/no-code-modules/{noCode}/workspaces/{workspace}/upgrade/{run}',
];

const pointers = (body: { errors?: { source?: { pointer: string } }[] }) =>
  (body?.errors ?? []).map(({ source }) => source?.pointer);

it.each(['attributes', 'relationships'] as const)('unknown %s are rejected by name on every route', async (part) => {
  const wrong: string[] = [];
  // The organization is in the body.
  const naming: Record<string, object> = {
    '/api/v2/oauth-clients': { 'organization-id': 'acme' },
    '/api/v2/registry-modules': { 'vcs-repo': { 'oauth-token-id': world.oauthToken } },
  };
  expect(writes.length).toBeGreaterThan(35);
  for (const { method, path } of writes) {
    if (withoutAttributes.includes(`${method} ${path}`)) continue;
    const { body } = namedIn(world);
    const { workspace, project, plan } = body.data.relationships;
    const named = {
      ...(/\/(runs|queries|team-workspaces)$/.test(path) ? { workspace } : {}),
      ...(/\/team-projects$/.test(path) ? { project } : {}),
      ...(/\/plan-exports$/.test(path) ? { plan } : {}),
    };
    const inBody = naming[path] ?? {};
    const input = { 'no-such': part === 'attributes' ? 1 : { data: { type: 'x', id: 'x' } } };
    const data =
      part === 'attributes'
        ? { attributes: { ...inBody, ...input }, relationships: named }
        : { attributes: inBody, relationships: { ...named, ...input } };
    const answer = await api.call(method, fillPath(path, world), { body: { data } });
    if (answer.status !== 422 || !pointers(answer.body).includes(`/data/${part}/no-such`)) {
      wrong.push(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)?.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
});

describe('a whole document', () => {
  it.each([
    'organizations/{organization}',
    'projects/{project}',
    'workspaces/{workspace}',
    'teams/{team}',
    'team-workspaces/{grant}',
    'team-projects/{grant}',
    'agent-pools/{pool}',
    'varsets/{varset}',
    'workspaces/{workspace}/vars/{variable}',
    'varsets/{varset}/relationships/vars/{variable}',
    'notification-configurations/{notification}',
    'policies/{policy}',
    'policy-sets/{policySet}',
    'policy-sets/{policySet}/parameters/{parameter}',
    'workspaces/{workspace}/tasks/{wstask}',
  ])('can be sent back unchanged: %s', async (path) => {
    const at = fillPath(path, world);
    const { data } = (await api.get(at)).body;
    // Sensitive values are not shown, and null counts as absent.
    const answer = await api.call('PATCH', at, { body: { data } });
    expect([answer.status, answer.body?.errors]).toEqual([200, undefined]);
    const { 'updated-at': _, 'latest-change-at': __, 'version-id': ___, ...before } = data.attributes;
    expect(answer.body.data.attributes).toMatchObject(before);
  });

  it('of the account can be sent back unchanged', async () => {
    const { data } = (await api.get('account/details')).body;
    const answer = await api.call('PATCH', 'account/update', { body: { data } });
    expect([answer.status, answer.body?.errors]).toEqual([200, undefined]);
  });
});

describe('attributes of unsupported features', () => {
  const workspace = () => `workspaces/${world.workspace}`;
  it.each<[string, () => string, object, object, string]>([
    ['organizations', () => 'organizations/acme', { 'enforce-hyok': true }, {}, 'attributes/enforce-hyok'],
    [
      'projects',
      () => `projects/${world.project}`,
      { 'stacks-default-execution-mode': 'agent' },
      {},
      'attributes/stacks-default-execution-mode',
    ],
    ['workspaces', workspace, { 'migration-environment': 'x' }, {}, 'attributes/migration-environment'],
    [
      'workspaces',
      workspace,
      {},
      { 'ssh-key': { data: { type: 'ssh-keys', id: 'sshkey-1' } } },
      'relationships/ssh-key',
    ],
    ['policies', () => `policies/${world.policy}`, { name: 'another' }, {}, 'attributes/name'],
    [
      'policy sets',
      () => `policy-sets/${world.policySet}`,
      {},
      { workspaces: { data: [{ type: 'workspaces', id: 'ws-1' }] } },
      'relationships/workspaces',
    ],
    [
      'variable sets',
      () => `varsets/${world.varset}`,
      {},
      { stacks: { data: [{ type: 'stacks', id: 'st-1' }] } },
      'relationships/stacks',
    ],
  ])('are rejected by name: %s', async (_, path, attributes, relationships, pointer) => {
    const { status, body } = await api.patch(path(), attributes, relationships);
    expect([status, pointers(body)]).toEqual([422, [`/data/${pointer}`]]);
  });

  it('are rejected by name for runs', async () => {
    const on = { workspace: { data: { type: 'workspaces', id: world.workspace } } };
    const { status, body } = await api.post('runs', { 'policy-paths': ['./policies'], 'plan-only': true }, on);
    expect([status, pointers(body)]).toEqual([422, ['/data/attributes/policy-paths']]);
  });

  it('are returned as off where clients request them with every organization', async () => {
    const { status, body } = await api.patch('organizations/acme', { 'stacks-enabled': true });
    expect([status, body.data.attributes['stacks-enabled']]).toEqual([200, false]);
  });

  it('are accepted with a value that has no effect', async () => {
    const nothing = { 'stacks-enabled': false, 'user-tokens-enabled': true, 'owners-team-saml-role-id': '' };
    expect((await api.patch('organizations/acme', nothing)).status).toBe(200);
    expect((await api.patch(workspace(), { 'migration-environment': null, 'of-the-future': null })).status).toBe(200);
    expect((await api.patch(`policy-sets/${world.policySet}`, { 'policy-update-patterns': [] })).status).toBe(200);
  });
});

describe('setting-overwrites', () => {
  const created = async (attributes: object) =>
    api.post('organizations/acme/workspaces', { name: uniqueName('overwrites'), ...attributes });

  it('rejects values that contradict the execution mode', async () => {
    const { status, body } = await created({
      'execution-mode': 'local',
      'setting-overwrites': { 'execution-mode': false },
    });
    expect([status, pointers(body)]).toEqual([422, ['/data/attributes/setting-overwrites/execution-mode']]);
    const { id } = (await created({})).body.data;
    const change = { 'execution-mode': 'local', 'setting-overwrites': { 'execution-mode': false } };
    expect((await api.patch(`workspaces/${id}`, change)).status).toBe(422);
  });

  it("follows the project where the execution mode is the provider's default", async () => {
    const { id: project } = (
      await api.post('organizations/acme/projects', { name: uniqueName('Local'), 'default-execution-mode': 'local' })
    ).body.data;
    const relationships = { project: { data: { type: 'projects', id: project } } };
    const path = 'organizations/acme/workspaces';
    const { id } = (await api.post(path, { name: uniqueName('follows') }, relationships)).body.data;
    const change = {
      'execution-mode': 'remote',
      'setting-overwrites': { 'execution-mode': false, 'agent-pool': false },
    };
    const { attributes } = (await api.patch(`workspaces/${id}`, change)).body.data;
    expect([attributes['execution-mode'], attributes['setting-overwrites']['execution-mode']]).toEqual([
      'local',
      false,
    ]);
  });

  it('rejects overwriting the mode without its pool, and unknown settings', async () => {
    const parted = await created({ 'setting-overwrites': { 'execution-mode': true, 'agent-pool': false } });
    expect(pointers(parted.body)).toEqual(['/data/attributes/setting-overwrites/agent-pool']);
    const unknown = await created({ 'setting-overwrites': { 'terraform-version': true } });
    expect(pointers(unknown.body)).toEqual(['/data/attributes/setting-overwrites/terraform-version']);
  });

  it('follows the same rules on projects', async () => {
    const { id } = (await api.post('organizations/acme/projects', { name: uniqueName('Overwrites') })).body.data;
    const change = { 'default-execution-mode': 'local', 'setting-overwrites': { 'default-execution-mode': false } };
    const { status, body } = await api.patch(`projects/${id}`, change);
    expect([status, pointers(body)]).toEqual([422, ['/data/attributes/setting-overwrites/default-execution-mode']]);
  });
});

describe('tags by id', () => {
  const tag = (id: string) => ({ body: { data: [{ type: 'tags', id }] } });

  it('are added when another workspace has them', async () => {
    const bindings = { 'tag-bindings': { data: [{ attributes: { key: 'elsewhere', value: '' } }] } };
    const other = (await api.post('organizations/acme/workspaces', { name: uniqueName('tagged') }, bindings)).body.data
      .id;
    const [{ id }] = (await api.get(`workspaces/${other}/relationships/tags`)).body.data;
    const mine = (await api.workspace()).id;
    expect((await api.call('POST', `workspaces/${mine}/relationships/tags`, tag(id))).status).toBe(204);
    const { data } = (await api.get(`workspaces/${mine}/relationships/tags`)).body;
    expect(data.map(({ attributes }: { attributes: { name: string } }) => attributes.name)).toEqual(['elsewhere']);
  });

  it('are rejected by name when they do not exist', async () => {
    const { id } = await api.workspace();
    const { status, body } = await api.call('POST', `workspaces/${id}/relationships/tags`, tag('tag-unknown'));
    expect([status, pointers(body)]).toEqual([422, ['/data/0']]);
    expect(body.errors[0].detail).toContain('tag-unknown');
  });
});
