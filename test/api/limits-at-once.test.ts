import { describe, expect, it } from 'vitest';
import { type Answered, startApi, uniqueName } from '#test/support/api.ts';
import { on, runHelpers } from '#test/support/runs.ts';

/** Limits hold for concurrent requests: the excess ones are rejected and leave nothing behind. */

const api = await startApi();

interface Case {
  max: number;
  /** Creates one directly in the store. */
  fill(n: number): Promise<unknown>;
  post(n: number): Promise<Answered>;
  count(): Promise<number>;
  says: RegExp;
}

const together = 6;
const free = 2;

const lengthOf = async (path: string, narrowing = ''): Promise<number> => {
  const { body } = await api.get(`${path}?${narrowing}`);
  return body.meta?.pagination?.['total-count'] ?? body.data.length;
};

const toOne = (type: string, id: string) => ({ data: { type, id } });
const acme = 'organizations/acme';
const workspaceId = async () => (await api.workspace()).id;
const slack = (n: number) => ({
  name: `n${n}`,
  'destination-type': 'slack',
  url: 'https://hooks.example.test/x',
  enabled: false,
  triggers: [],
});

const cases: Record<string, () => Promise<Case>> = {
  'SSH keys': async () => {
    const { createSshKey } = await import('#resources/ssh-keys/records.ts');
    return {
      max: 200,
      fill: (n) => createSshKey('acme', `k${n}`, 'text'),
      post: (n) => api.post(`${acme}/ssh-keys`, { name: `k${n}`, value: 'text' }),
      count: () => lengthOf(`${acme}/ssh-keys`),
      says: /has 200 SSH keys, the maximum/,
    };
  },
  'tokens of a user': async () => {
    const { createToken } = await import('#resources/users/tokens.ts');
    const path = `users/${api.userId}/authentication-tokens`;
    const before = await lengthOf(path);
    return {
      max: 100,
      fill: (n) => (n < before ? Promise.resolve() : createToken(api.userId, `t${n}`)),
      post: (n) => api.post(path, { description: `t${n}` }),
      count: () => lengthOf(path),
      says: /already 100 tokens, the maximum/,
    };
  },
  'agent pools': async () => {
    const { createAgentPool } = await import('#resources/agents/pools/records.ts');
    const none = { allowedWorkspaceIds: [], allowedProjectIds: [], excludedWorkspaceIds: [] };
    return {
      max: 200,
      fill: (n) => createAgentPool('acme', { name: `p${n}`, organizationScoped: true, ...none }),
      post: (n) => api.post(`${acme}/agent-pools`, { name: `p${n}` }),
      count: () => lengthOf(`${acme}/agent-pools`),
      says: /has 200 agent pools, the maximum/,
    };
  },
  'reserved tag keys': async () => {
    const { createReservedTagKey } = await import('#resources/tags/reserved-keys/records.ts');
    return {
      max: 200,
      fill: (n) => createReservedTagKey('acme', { key: `k${n}`, disableOverrides: false }),
      post: (n) => api.post(`${acme}/reserved-tag-keys`, { key: `k${n}` }),
      count: () => lengthOf(`${acme}/reserved-tag-keys`),
      says: /has 200 reserved tag keys, the maximum/,
    };
  },
  'saved views': async () => {
    const { createView } = await import('#features/explorer/views.ts');
    const path = `${acme}/explorer/views`;
    const query = { type: 'workspaces', filters: [] } as never;
    return {
      max: 200,
      fill: (n) => createView({ organization: 'acme', name: `v${n}`, query, createdBy: api.userId }),
      post: (n) => api.post(path, { name: `v${n}`, 'query-type': 'workspaces', query: { type: 'workspaces' } }),
      count: () => lengthOf(path),
      says: /has 200 saved views, the maximum/,
    };
  },
  'parameters of a policy set': async () => {
    const { createVariable } = await import('#resources/variables/records.ts');
    const { body } = await api.post(`${acme}/policy-sets`, { name: uniqueName('set'), kind: 'sentinel' });
    const { id } = body.data;
    const values = { category: 'policy-set', hcl: false, sensitive: false, description: null, value: 'v' } as const;
    return {
      max: 100,
      fill: (n) => createVariable(id, { ...values, key: `k${n}` }),
      post: (n) => api.post(`policy-sets/${id}/parameters`, { key: `k${n}`, value: 'v', category: 'policy-set' }),
      count: () => lengthOf(`policy-sets/${id}/parameters`),
      says: /at most 100 parameters/,
    };
  },
  'variables of a variable set': async () => {
    const { createVariable } = await import('#resources/variables/records.ts');
    const { body } = await api.post(`${acme}/varsets`, { name: uniqueName('set'), global: false });
    const { id } = body.data;
    const values = { category: 'terraform', hcl: false, sensitive: false, description: null, value: 'v' } as const;
    return {
      max: 500,
      fill: (n) => createVariable(id, { ...values, key: `k${n}` }),
      post: (n) => api.post(`varsets/${id}/relationships/vars`, { key: `k${n}`, value: 'v', category: 'terraform' }),
      count: () => lengthOf(`varsets/${id}/relationships/vars`),
      says: /at most 500 variables/,
    };
  },
  'run tasks of a workspace': async () => {
    const { createTask } = await import('#resources/run-tasks/records.ts');
    const { createWorkspaceTask } = await import('#resources/run-tasks/workspace-tasks.ts');
    const id = await workspaceId();
    const settings = { stages: ['pre_plan'], enforcementLevel: 'advisory' } as const;
    const newTask = async (n: number) => {
      const global = { enabled: false, ...settings, stages: [...settings.stages] };
      const url = 'https://task.example.test';
      return createTask('acme', { name: `w${n}`, url, description: null, enabled: true, global });
    };
    return {
      max: 50,
      fill: async (n) =>
        createWorkspaceTask(id, (await newTask(n))?.id ?? '', { ...settings, stages: [...settings.stages] }),
      post: async (n) => {
        const task = { task: toOne('tasks', (await newTask(n))?.id ?? '') };
        return api.post(`workspaces/${id}/tasks`, { 'enforcement-level': 'advisory' }, task);
      },
      count: () => lengthOf(`workspaces/${id}/tasks`),
      says: /at most 50 run tasks/,
    };
  },
  'notification configurations of a workspace': async () => {
    const { createNotification } = await import('#resources/notifications/records.ts');
    const id = await workspaceId();
    const values = { destinationType: 'slack', url: 'https://hooks.example.test/x', enabled: false } as const;
    return {
      max: 20,
      fill: (n) =>
        createNotification({ organization: 'acme', workspaceId: id }, `nc-${uniqueName('filled')}`, {
          ...values,
          name: `n${n}`,
          triggers: [],
        }),
      post: (n) => api.post(`workspaces/${id}/notification-configurations`, slack(n)),
      count: () => lengthOf(`workspaces/${id}/notification-configurations`),
      says: /has 20 notification configurations, the maximum/,
    };
  },
  'run triggers that queue runs in a workspace': async () => {
    const { createRunTrigger } = await import('#resources/runs/triggers.ts');
    const id = await workspaceId();
    return {
      max: 20,
      fill: async () => createRunTrigger('acme', { workspaceId: id, sourceableId: await workspaceId() }),
      post: async () =>
        api.post(`workspaces/${id}/run-triggers`, {}, { sourceable: toOne('workspaces', await workspaceId()) }),
      count: () => lengthOf(`workspaces/${id}/run-triggers`, 'filter[run-trigger][type]=inbound'),
      says: /queued by 20 workspaces, the maximum/,
    };
  },
  'platforms of a provider version': async () => {
    const { createPlatform, createProvider, createProviderVersion } = await import(
      '#resources/registry/providers/records.ts'
    );
    const address = { organization: 'acme', namespace: 'acme', registry: 'private', name: 'many' } as const;
    const provider = await createProvider(address);
    const version = await createProviderVersion(provider?.id ?? '', {
      version: '1.0.0',
      keyId: '34365D9472D7468F',
      protocols: ['5.0'],
    });
    const file = (n: number) => ({ os: 'linux', arch: `a${n}`, filename: `many_${n}.zip`, shasum: 'a'.repeat(64) });
    const path = `${acme}/registry-providers/private/acme/many/versions/1.0.0/platforms`;
    return {
      max: 20,
      fill: (n) => createPlatform(version as NonNullable<typeof version>, file(n)),
      post: (n) => api.post(path, file(n)),
      count: () => lengthOf(path),
      says: /at most 20 platforms/,
    };
  },
  'versions of a module': async () => {
    const { createModule, createModuleVersion } = await import('#resources/registry/modules/records.ts');
    const address = {
      organization: 'acme',
      namespace: 'acme',
      registry: 'private',
      name: 'm',
      provider: 'aws',
    } as const;
    const module = (await createModule(address)) as { id: string };
    const { countVersions } = await import('#resources/registry/modules/records.ts');
    return {
      max: 500,
      fill: (n) => createModuleVersion(module as never, `1.0.${n}`, undefined),
      post: (n) => api.post(`${acme}/registry-modules/private/acme/m/aws/versions`, { version: `1.0.${n}` }),
      count: () => countVersions(module.id),
      says: /has 500, the maximum/,
    };
  },
  'query runs in progress': async () => {
    const help = await runHelpers(api);
    const { id, version } = await help.ready({ 'terraform-version': '1.14.0' });
    const { countHidden } = await import('#lifecycle/creation/hidden-runs.ts');
    const post = () => api.post('queries', { source: 'tfe-api' }, on(id, version));
    return { max: 10, fill: post, post, count: () => countHidden('acme', 'QUERYING#'), says: /10 query runs of acme/ };
  },
};

describe('concurrent requests do not exceed the maximum of', () => {
  it.each(Object.entries(cases))('%s', async (_, prepare) => {
    const { max, fill, post, count, says } = await prepare();
    for (let n = 0; n < max - free; n++) await fill(n);
    expect(await count()).toBe(max - free);
    const answers = await Promise.all(Array.from({ length: together }, (_, i) => post(1000 + i)));
    const created = answers.filter(({ status }) => status < 300);
    expect(await count()).toBe(max - free + created.length);
    expect(created.length).toBeLessThanOrEqual(free);
    for (const { status, body } of answers.filter((answer) => answer.status >= 300)) {
      expect([status, body.errors[0].detail]).toEqual([expect.any(Number), expect.stringMatching(says)]);
    }
    // Sequential requests can use every place.
    for (let n = created.length; n < free; n++) expect((await post(2000 + n)).status).toBeLessThan(300);
    expect((await post(3000)).body.errors[0].detail).toMatch(says);
    expect(await count()).toBe(max);
  });
});
