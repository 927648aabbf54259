import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { startTaskServer, status } from '#test/support/task-server.ts';
import { fillPath, makeWorld } from '#test/support/world.ts';

/**
 * Every writable attribute of every resource: written, read, listed, included, kept while others are written, and
 * cleared. A value that reads back differently appears as a difference in every plan of a client. The API itself
 * lists the attributes when it rejects an unknown one, so a new attribute needs a line here.
 */

/** The written value, and the read one if it differs; `undefined` for values that are never shown. */
interface Sample {
  write: unknown;
  /** Makes the value unique each time, with this prefix. */
  isName?: boolean;
  read?: unknown;
  isSecret?: boolean;
  /** Value after writing null; absent: the default of a new resource. `fixed`: it cannot be cleared. */
  cleared?: 'fixed' | { to: unknown };
  /** Attributes that have to be written with it. */
  with?: Record<string, unknown>;
}

interface Resource {
  /** Creates a resource. @returns its path */
  make(): Promise<string>;
  /** Path of its list. */
  list?: string | ((path: string) => string);
  samples: Record<string, Sample>;
}

/** Receives the verification when a run task is created or enabled. */
const server = await startTaskServer();
server.answer = status(200);

process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
const api = await startApi();
const world = await makeWorld(api);

const acme = 'organizations/acme';
const text = (write = 'some text'): Sample => ({ write });
const on: Sample = { write: true };
const off: Sample = { write: false };
const fixed = (write: unknown): Sample => ({ write, cleared: 'fixed' });
const named = (prefix: string): Sample => ({ ...fixed(prefix), isName: true });
const to = (type: string, id: string | undefined) => ({ data: { type, id } });

const createOne = async (path: string, at: string, attributes: object, relationships?: object): Promise<string> => {
  const answer = await api.post(path, attributes, relationships);
  if (!answer.body.data?.id) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return `${at}/${answer.body.data.id}`;
};
const workspace = () => createOne(`${acme}/workspaces`, 'workspaces', { name: uniqueName('every') });
const team = async () => (await createOne(`${acme}/teams`, 'teams', { name: uniqueName('every') })).split('/')[1];
const parts = (value: object) => ({ write: value, with: { access: 'custom' }, cleared: 'fixed' as const });

const variables = (path: string, category: string, more: Resource['samples'] = {}): Resource => {
  const at = fillPath(path, world);
  return {
    make: () => createOne(at, at, { key: uniqueName('k'), category }),
    list: at,
    samples: {
      ...{ key: named('renamed'), value: text('[1]'), category: fixed(category), ...more },
      sensitive: { write: true, cleared: 'fixed' },
    },
  };
};
const newTask = () =>
  createOne(`${acme}/tasks`, 'tasks', { name: uniqueName('t'), category: 'task', url: server.url, enabled: false });

const resources: Record<string, Resource> = {
  organizations: {
    make: async () => {
      const name = uniqueName('every');
      await api.post('organizations', { name, email: 'a@b.test' });
      return `organizations/${name}`;
    },
    list: 'organizations',
    samples: {
      email: fixed('other@b.test'),
      'session-timeout': text(60 as never),
      'session-remember': text(90 as never),
      'sso-max-token-age': text(90 as never),
      // The owner who writes it is exempt.
      'sso-required': on,
      // The token of this test never expires.
      'max-ttl-enabled': off,
      'owners-team-saml-role-id': text('owners'),
      'collaborator-auth-policy': text('password'),
      'cost-estimation-enabled': on,
      'send-passing-statuses-for-untriggered-speculative-plans': on,
      'aggregated-commit-status-enabled': off,
      'speculative-plan-management-enabled': off,
      'pull-request-comments-enabled': off,
      'allow-force-delete-workspaces': on,
      'user-tokens-enabled': on,
      'assessments-enforced': on,
      'default-execution-mode': text('local'),
      'default-engine': text('tofu'),
      'terraform-build-worker-plan-timeout': text('1h30m'),
      'terraform-build-worker-apply-timeout': text('45m'),
    },
  },
  projects: {
    make: () => createOne(`${acme}/projects`, 'projects', { name: uniqueName('Every') }),
    list: `${acme}/projects`,
    samples: {
      name: named('Renamed'),
      description: text(),
      'default-execution-mode': text('local'),
      'setting-overwrites': {
        write: { 'default-execution-mode': true, 'default-agent-pool': true },
        cleared: 'fixed',
      },
      'auto-destroy-activity-duration': { write: '14d' },
    },
  },
  workspaces: {
    make: workspace,
    list: `${acme}/workspaces`,
    samples: {
      name: named('renamed'),
      description: text(),
      'execution-mode': text('local'),
      'setting-overwrites': { write: { 'execution-mode': true, 'agent-pool': true }, cleared: 'fixed' },
      operations: fixed(false),
      engine: text('tofu'),
      'terraform-version': text('1.9.8'),
      'working-directory': text('a/b'),
      'auto-apply': on,
      'auto-apply-run-trigger': on,
      'allow-destroy-plan': off,
      'queue-all-runs': on,
      'speculative-enabled': off,
      'apply-before-merge-enabled': on,
      'apply-before-merge-requirements': { write: ['approved', 'mergeable'] },
      'structured-run-output-enabled': off,
      'file-triggers-enabled': off,
      'trigger-prefixes': { write: ['/a', 'b'] },
      'global-remote-state': on,
      'project-remote-state': on,
      'assessments-enabled': on,
      'hyok-enabled': off,
      'auto-destroy-at': { write: '2030-01-01T00:00:00.000Z' },
      'source-name': text(),
      'source-url': text('https://source.test'),
    },
  },
  'workspaces, destroyed after a duration': {
    make: workspace,
    list: `${acme}/workspaces`,
    samples: { 'auto-destroy-activity-duration': { write: '14d' } },
  },
  'workspaces, not destroyed with their project': {
    make: workspace,
    list: `${acme}/workspaces`,
    samples: { 'inherits-project-auto-destroy': fixed(false) },
  },
  'workspaces, paths by pattern': {
    make: workspace,
    list: `${acme}/workspaces`,
    samples: { 'trigger-patterns': { write: ['/x/**', '!y'] } },
  },
  teams: {
    make: () => createOne(`${acme}/teams`, 'teams', { name: uniqueName('every') }),
    list: `${acme}/teams`,
    samples: {
      name: named('renamed team'),
      visibility: text('organization'),
      'sso-team-id': text('group'),
      'allow-member-token-management': off,
      'organization-access': {
        write: { 'manage-run-tasks': true, 'manage-vcs-settings': true, 'read-workspaces': true },
        cleared: 'fixed',
      },
    },
  },
  'team-workspaces': {
    make: async () => {
      const [id, at] = [await team(), await workspace()];
      const relationships = { team: to('teams', id), workspace: to('workspaces', at.split('/')[1]) };
      return createOne('team-workspaces', 'team-workspaces', { access: 'write' }, relationships);
    },
    samples: {
      access: fixed('custom'),
      runs: parts('plan' as never),
      variables: parts('read' as never),
      'state-versions': parts('read-outputs' as never),
      'sentinel-mocks': parts('none' as never),
      'run-tasks': parts(true as never),
      'workspace-locking': parts(false as never),
      'policy-overrides': fixed(true),
    },
  },
  'team-projects': {
    make: async () => {
      const relationships = { team: to('teams', await team()), project: to('projects', world.project) };
      return createOne('team-projects', 'team-projects', { access: 'write' }, relationships);
    },
    samples: {
      access: fixed('custom'),
      'project-access': parts({ settings: 'update', teams: 'read', 'variable-sets': 'read' }),
      'workspace-access': parts({ runs: 'plan', create: true, locking: false, 'state-versions': 'read' }),
    },
  },
  'agent-pools': {
    make: () => createOne(`${acme}/agent-pools`, 'agent-pools', { name: uniqueName('every') }),
    list: `${acme}/agent-pools`,
    samples: { name: named('renamed'), 'organization-scoped': off },
  },
  varsets: {
    make: () => createOne(`${acme}/varsets`, 'varsets', { name: uniqueName('every') }),
    list: `${acme}/varsets`,
    samples: { name: named('renamed'), description: text(), global: on, priority: on },
  },
  vars: variables('workspaces/{workspace}/vars', 'terraform', { description: text(), hcl: on }),
  'vars of variable sets': variables('varsets/{varset}/relationships/vars', 'terraform', {
    description: text(),
    hcl: on,
  }),
  parameters: variables('policy-sets/{policySet}/parameters', 'policy-set'),
  'notification-configurations': {
    make: () =>
      createOne(`workspaces/${world.workspace}/notification-configurations`, 'notification-configurations', {
        name: 'n',
        'destination-type': 'generic',
        url: 'https://example.test/',
      }),
    list: () => `workspaces/${world.workspace}/notification-configurations`,
    samples: {
      name: named('renamed'),
      url: fixed('https://other.test/'),
      enabled: off,
      'destination-type': fixed('generic'),
      token: { write: 'secret', isSecret: true },
      triggers: { write: ['run:errored', 'run:created'], read: expect.arrayContaining(['run:created', 'run:errored']) },
      'email-addresses': { write: [] },
    },
  },
  policies: {
    make: () => createOne(`${acme}/policies`, 'policies', { name: uniqueName('p'), kind: 'opa', query: 'data.a.deny' }),
    list: `${acme}/policies`,
    samples: {
      kind: fixed('opa'),
      description: text(),
      query: fixed('data.b.deny'),
      'enforcement-level': fixed('mandatory'),
      // Older form of the level, shown with the policy's file.
      enforce: { write: [{ mode: 'mandatory' }], read: [], cleared: 'fixed' },
    },
  },
  'policy-sets': {
    make: () => createOne(`${acme}/policy-sets`, 'policy-sets', { name: uniqueName('s'), kind: 'opa' }),
    list: `${acme}/policy-sets`,
    samples: {
      name: named('renamed'),
      description: text(),
      global: on,
      overridable: on,
      'policies-path': text('policies'),
      'policy-update-patterns': { write: ['policies/**/*.rego'] },
      'policy-tool-version': text('latest'),
      'agent-enabled': { write: true, cleared: 'fixed' },
      'vcs-repo': { write: null },
      'tag-selectors': { write: [], cleared: 'fixed' },
    },
  },
  tasks: {
    make: newTask,
    list: `${acme}/tasks`,
    samples: {
      name: named('renamed'),
      url: fixed(`${server.url}/other`),
      description: text(),
      category: text('task'),
      enabled: { write: false, cleared: 'fixed' },
      'hmac-key': { write: 'secret', isSecret: true },
      'global-configuration': {
        write: { enabled: true, stages: ['pre_apply', 'pre_plan'], 'enforcement-level': 'mandatory' },
      },
    },
  },
  'workspace tasks': {
    make: async () => {
      const id = (await newTask()).split('/')[1];
      const at = `${await workspace()}/tasks`;
      return createOne(at, at, { 'enforcement-level': 'advisory' }, { task: to('tasks', id) });
    },
    list: (path) => path.replace(/\/[^/]+$/, ''),
    samples: {
      'enforcement-level': fixed('mandatory'),
      stage: fixed('pre_apply'),
      stages: fixed(['pre_apply', 'pre_plan']),
    },
  },
  'ssh-keys': {
    make: () => createOne(`${acme}/ssh-keys`, 'ssh-keys', { name: 'k', value: 'v' }),
    list: `${acme}/ssh-keys`,
    samples: { name: named('renamed'), value: { write: 'other', isSecret: true, cleared: 'fixed' } },
  },
  'cidr-range-lists': {
    make: () => createOne(`${acme}/cidr-range-lists`, 'cidr-range-lists', { name: uniqueName('list') }),
    list: `${acme}/cidr-range-lists`,
    samples: {
      name: named('office'),
      description: { ...text(), cleared: { to: '' } },
      'enforcement-scope': fixed('all_agent_pools'),
    },
  },
  'cidr-ranges': {
    make: async () => {
      const list = await createOne(`${acme}/cidr-range-lists`, 'cidr-range-lists', { name: uniqueName('list') });
      const at = `${list}/relationships/cidr-ranges`;
      return createOne(at, 'cidr-ranges', { range: '198.51.100.0/24' });
    },
    samples: { range: fixed('203.0.113.0/24'), description: text(), enabled: fixed(false) },
  },
  'provider-sets': {
    make: () =>
      createOne(`${acme}/provider-sets`, 'provider-sets', {
        name: uniqueName('set'),
        'provider-source': 'hashicorp/null',
        'configuration-hcl': 'provider "null" {}',
      }),
    list: `${acme}/provider-sets`,
    samples: {
      name: named('renamed'),
      description: text(),
      global: on,
      priority: on,
      'provider-source': { ...fixed('example/null'), read: 'registry.terraform.io/example/null' },
      'configuration-hcl': fixed('provider "null" {\n  a = 1\n}'),
      // Clients of the beta send underscores; responses have hyphens.
      provider_source: { write: 'example/null', isSecret: true, cleared: 'fixed' },
      configuration_hcl: { write: 'provider "null" {}', isSecret: true, cleared: 'fixed' },
    },
  },
};

/** Tests of other routes that change attributes. */
const elsewhere: Record<string, string> = {
  'organizations/{organization}/scim-configuration': 'test/resources/scim/attacks.test.ts',
  'account/update': 'test/resources/users',
  'admin/opa-versions/{version}': 'test/resources/policies',
  'admin/organizations/{organization}': 'module sharing: test/resources/registry',
  'admin/organizations/{organization}/relationships/module-consumers': 'a list of organizations',
  'admin/sentinel-versions/{version}': 'test/resources/policies',
  'admin/banners/{banner}': 'shown with the account: test/resources/organizations/banners',
  'admin/saml-settings': 'test/resources/sign-in/saml',
  'no-code-modules/{noCode}': 'test/features/no-code',
  'organizations/{organization}/tests/registry-modules/{registry}/{namespace}/{moduleName}/{moduleProvider}/vars/{variable}':
    'as of workspaces; environment variables only: test/features/module-tests',
  'oauth-clients/{oauthClient}': 'needs a forge: test/version-control',
  'oauth-tokens/{oauthToken}': 'needs a forge: test/version-control',
  'organizations/{organization}/audit-configuration': 'fixed values: test/resources/audit',
  'organizations/{organization}/explorer/views/{view}': 'a query: test/features/explorer',
  'organizations/{organization}/registry-modules/{registry}/{namespace}/{moduleName}/{moduleProvider}':
    'test/resources/registry',
  'organizations/{organization}/registry-modules/{registry}/{namespace}/{moduleName}/{moduleProvider}/{moduleVersion}':
    'test/resources/registry',
  'organizations/{organization}/registry-providers/{registry}/{namespace}/{providerName}': 'test/resources/registry',
  'organizations/{organization}/relationships/data-retention-policy': 'test/removal/retention',
  'organizations/{organization}/token-ttl-policies': 'test/resources/organizations',
  'organizations/{organization}/workspaces/{name}': 'workspaces, by name',
  'projects/{project}/relationships/tag-bindings': 'a list of tags',
  'projects/{project}/tag-bindings': 'a list of tags',
  'registry-modules/{organization}/{moduleName}/{moduleProvider}': 'test/resources/registry',
  'reserved-tag-keys/{reservedTagKey}': 'below: only listed',
  'task-results/{result}/callback': 'a verdict',
  'workspaces/{workspace}/relationships/data-retention-policy': 'test/removal/retention',
  'workspaces/{workspace}/relationships/remote-state-consumers': 'a list of workspaces',
  'workspaces/{workspace}/relationships/ssh-key': 'a relationship',
  'workspaces/{workspace}/relationships/tag-bindings': 'a list of tags',
  'workspaces/{workspace}/relationships/vars': 'several variables at once: test/resources/variables',
  'workspaces/{workspace}/state-versions': 'a rollback',
  'workspaces/{workspace}/tag-bindings': 'a list of tags',
};

it('the samples cover every route that changes a resource', async () => {
  const { routes } = await import('#public-api/all-routes.ts');
  const made = await Promise.all(Object.values(resources).map(({ make }) => make()));
  const changing = routes.filter(({ method, path }) => method === 'PATCH' && path.startsWith('/api/v2/'));
  const missing = changing
    .map(({ path }) => path.replace('/api/v2/', ''))
    .filter((path) => !made.some((one) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(one)));
  expect(missing.sort()).toEqual(Object.keys(elsewhere).sort());
});

/** It has no GET route of its own, only a list. */
const onlyListed = `${acme}/reserved-tag-keys`;

interface Document {
  id: string;
  attributes: Record<string, unknown>;
}

const read = async (path: string): Promise<Document> => (await api.get(path)).body.data;

const patch = async (path: string, attributes: object): Promise<Document> => {
  const { status, body } = await api.patch(path, attributes);
  if (status !== 200) throw new Error(`PATCH ${path} ${JSON.stringify(attributes)}: ${JSON.stringify(body)}`);
  return body.data;
};

/** Searches every page, since some lists are long. */
const listed = async (path: string, id: string): Promise<Document | undefined> => {
  for (let page = 1; ; page++) {
    const { body } = await api.get(`${path}?page[size]=100&page[number]=${page}`);
    const match = body.data.find((one: Document) => one.id === id);
    if (match || page >= (body.meta?.pagination?.['total-pages'] ?? 1)) return match;
  }
};

const shownAs = ({ write, read: shown = write, isSecret }: Sample): unknown => {
  if (isSecret) return undefined;
  return typeof shown === 'object' && shown !== null && !Array.isArray(shown) && !('asymmetricMatch' in shown)
    ? expect.objectContaining(shown)
    : shown;
};

const visible = (document: Document, name: string): unknown => document.attributes[name] ?? null;

const unique = (sample: Sample): Sample =>
  sample.isName ? { ...sample, write: uniqueName(String(sample.write)) } : sample;

describe.each(Object.entries(resources))('%s', (_, { make, list, samples }) => {
  it('have a sample value for every writable attribute', async () => {
    const { body } = await api.patch(await make(), { 'no-such': 1 });
    const [, supported = ''] = /supported: (.*)$/.exec(body.errors[0].detail) ?? [];
    const relationships = new Set(['project', 'tags', 'users', 'task', 'parent', 'vars', 'agent-pools']);
    const all = Object.values(resources).flatMap((one) => Object.keys(one.samples));
    const supportedNames = supported
      .split(', ')
      .filter((name) => name && !relationships.has(name) && !name.endsWith('-id'));
    expect(supportedNames.filter((name) => !all.includes(name))).toEqual([]);
    expect(supportedNames.length).toBeGreaterThan(0);
  });

  it.each(Object.entries(samples))(
    'return %s as written, in every response, until it is cleared',
    async (name, input) => {
      const sample = unique(input);
      const path = await make();
      const fresh = await read(path);
      const expected = shownAs(sample) ?? null;
      const written = await patch(path, { ...sample.with, [name]: sample.write });
      const at = path.startsWith('organizations/') ? path : path.replace(fresh.id, written.id);
      const again = await read(at);
      expect([visible(written, name), visible(again, name)]).toEqual([expected, expected]);
      if (list) {
        const shown = await listed(typeof list === 'string' ? list : list(at), written.id);
        expect(shown && visible(shown, name)).toEqual(expected);
      }
      if (sample.cleared === 'fixed') return;
      const cleared = await patch(at, { [name]: null });
      const usual = sample.cleared ? sample.cleared.to : visible(fresh, name);
      expect([visible(cleared, name), visible(await read(at), name)]).toEqual([usual, usual]);
    },
  );

  it('keep each attribute while others are changed', async () => {
    const path = await make();
    // Sensitive values and secrets are never shown.
    const names = Object.keys(samples).filter((name) => name !== 'sensitive' && !samples[name]?.isSecret);
    const all = names.map((name) => [name, unique(samples[name] as Sample)] as const);
    let at = path;
    for (const [name, sample] of all) {
      const { id } = await patch(at, { ...sample.with, [name]: sample.write });
      at = at.replace(/[^/]+$/, id);
    }
    const last = await read(at);
    const shown = Object.fromEntries(names.map((name) => [name, visible(last, name)]));
    expect(shown).toEqual(Object.fromEntries(all.map(([name, sample]) => [name, shownAs(sample) ?? null])));
  });
});

describe('reserved tag keys', () => {
  it('are listed as written', async () => {
    const { id } = (await api.post(onlyListed, { key: uniqueName('k') })).body.data;
    const key = uniqueName('other');
    await patch(`reserved-tag-keys/${id}`, { key, 'disable-overrides': true });
    expect((await listed(onlyListed, id))?.attributes).toMatchObject({ key, 'disable-overrides': true });
    await patch(`reserved-tag-keys/${id}`, { 'disable-overrides': null });
    expect((await listed(onlyListed, id))?.attributes).toMatchObject({ key, 'disable-overrides': false });
  });
});

describe('paths that start runs', () => {
  it('are prefixes or patterns: setting one replaces the other', async () => {
    const path = await workspace();
    const shown = async () => {
      const { attributes } = await read(path);
      return [attributes['trigger-prefixes'], attributes['trigger-patterns']];
    };
    await patch(path, { 'trigger-prefixes': ['/a'], 'trigger-patterns': [] });
    await patch(path, { 'trigger-patterns': ['/b/**'] });
    expect(await shown()).toEqual([[], ['/b/**']]);
    await patch(path, { 'trigger-prefixes': ['/c'] });
    expect(await shown()).toEqual([['/c'], []]);
    const both = await api.patch(path, { 'trigger-prefixes': ['/d'], 'trigger-patterns': ['/e'] });
    expect([both.status, both.body.errors[0].source]).toEqual([422, { pointer: '/data/attributes/trigger-patterns' }]);
    expect(await shown()).toEqual([['/c'], []]);
  });
});

describe('included resources', () => {
  it.each<[string, string, string, string]>([
    ['workspaces/{workspace}', 'project', 'projects', 'projects/{project}'],
    ['workspaces/{workspace}', 'organization', 'organizations', 'organizations/{organization}'],
    ['runs/{run}', 'workspace', 'workspaces', 'workspaces/{workspace}'],
    ['varsets/{varset}', 'workspaces', 'workspaces', 'workspaces/{workspace}'],
    ['policy-sets/{policySet}', 'policies', 'policies', ''],
    ['workspaces/{workspace}/tasks', 'task', 'tasks', ''],
    ['teams/{team}', 'users', 'users', ''],
  ])('%s?include=%s returns the %s as their own route does', async (path, include, type, home) => {
    const { status, body } = await api.get(`${fillPath(path, world)}?include=${include}`);
    expect(status).toBe(200);
    const own = home ? await read(fillPath(home, world)) : undefined;
    const included: (Document & { type: string })[] = (body.included ?? []).filter(
      (one: { type: string }) => one.type === type,
    );
    if (own) expect(included.find(({ id }) => id === own.id)?.attributes).toEqual(own.attributes);
    for (const { attributes } of included) expect(Object.keys(attributes).length).toBeGreaterThan(1);
  });
});
