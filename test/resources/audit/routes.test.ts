import { describe, expect, it, vi } from 'vitest';
import { actingAs, type Sent, startApi, uniqueName } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { stateFile } from '#test/support/state.ts';

const api = await startApi();
const runs = await runHelpers(api);
const table = await import('#platform/store/table.ts');
const trail = await import('#resources/audit/records.ts');
const { createUser } = await import('#resources/users/users.ts');
const { createToken } = await import('#resources/users/tokens.ts');
const { addMember } = await import('#resources/users/memberships.ts');
const user = async (username: string, organization?: string) => {
  const { id } = await createUser({ username, email: `${username}@some.test` });
  if (organization) await addMember(organization, id, 'member');
  return (await createToken(id, '')).secret;
};
const stranger = await user('stranger');
const reader = await user('reader', 'acme');

interface Event {
  id: string;
  timestamp: string;
  auth: Record<string, unknown>;
  resource: { id: string; type: string; action: string; meta: Record<string, unknown> };
}

/** Events of the same millisecond have no order. */
const nextMillisecond = () => new Promise((resolve) => setTimeout(resolve, 2));

const path = 'organization/audit-trail';
/** Start of every read: earlier days have no events and would only cost reads. */
const started = new Date(Date.now() - 1000).toISOString();
const read = async (): Promise<Event[]> =>
  (await api.get(`${path}?filter[organization][name]=acme&since=${started}`)).body.data;
/** Events recorded during `work`, and each as type, action and outcome. */
const during = async (work: () => Promise<unknown>): Promise<{ events: Event[]; said: string[] }> => {
  const before = new Set((await read()).map(({ id }) => id));
  await work();
  const events = (await read()).filter(({ id }) => !before.has(id));
  return { events, said: events.map(({ resource: { type, action, meta } }) => `${type} ${action} ${meta.outcome}`) };
};

describe('a change', () => {
  it('is recorded with user, address and resource, in the documented format', async () => {
    const { events } = await during(() =>
      api.call('POST', 'organizations/acme/workspaces', {
        body: { data: { attributes: { name: uniqueName('ws') } } },
        headers: { 'user-agent': 'go-tfe' },
      }),
    );
    const [workspace] = (await api.get('organizations/acme/workspaces')).body.data.slice(-1);
    expect(events).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
        version: '0',
        type: 'Resource',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        auth: {
          accessor_id: api.userId,
          description: 'owner',
          type: 'Client',
          impersonator_id: null,
          organization_id: expect.stringMatching(/^org-/),
        },
        request: { id: 'request' },
        resource: {
          id: workspace.id,
          type: 'workspace',
          action: 'create',
          meta: {
            workspace_id: workspace.id,
            workspace: workspace.attributes.name,
            outcome: 'allowed',
            token_kind: 'user',
            token_id: expect.stringMatching(/^at-/),
            address: '192.0.2.1',
            user_agent: 'go-tfe',
          },
        },
      },
    ]);
  });

  it('of each kind is named by its action', async () => {
    const { id } = await api.workspace();
    const { events, said: lines } = await during(async () => {
      await api.patch(`workspaces/${id}`, { description: 'x' });
      const variable = (await api.post(`workspaces/${id}/vars`, { key: 'k', value: 'v', category: 'env' })).body.data;
      await api.patch(`workspaces/${id}/vars/${variable.id}`, { value: 'w' });
      await api.call('POST', `workspaces/${id}/actions/lock`);
      const relationships = { workspace: { data: { type: 'workspaces', id } } };
      await api.configuration(id);
      const run = (await api.post('runs', { 'plan-only': true }, relationships)).body.data;
      await api.post(`runs/${run.id}/actions/cancel`);
      await api.post(`users/${api.userId}/authentication-tokens`, { description: 'x' });
    });
    expect(lines).toEqual([
      'workspace update allowed',
      'var create allowed',
      'var update allowed',
      'workspace lock allowed',
      'configuration_version create allowed',
      'run create allowed',
      'run cancel allowed',
      'authentication_token create allowed',
    ]);
    const ids = events.map(({ resource }) => resource.id);
    expect(ids.map((one) => one.replace(/-.*/, ''))).toEqual(['ws', 'var', 'var', 'ws', 'cv', 'run', 'run', 'at']);
    expect([ids[1], ids[5]]).toEqual([ids[2], ids[6]]);
  });

  it('costs one more write, and none when nothing changes', async () => {
    const { id } = await api.workspace();
    const calls = async (work: () => Promise<unknown>) => {
      const before = api.aws.calls;
      await work();
      return api.aws.calls - before;
    };
    const lock = () => api.call('POST', `workspaces/${id}/actions/lock`);
    // Token, workspace, membership, event and lock.
    expect(await calls(lock)).toBe(5);
    const { said: lines } = await during(async () => {
      expect((await api.post('organizations/acme/workspaces', { name: 'not a name' })).status).toBe(422);
    });
    expect(lines).toEqual([]);
  });

  it('that fails later is recorded as failed', async () => {
    const { id } = await api.workspace();
    await api.call('POST', `workspaces/${id}/actions/lock`);
    const { events, said: lines } = await during(async () => {
      expect((await api.call('POST', `workspaces/${id}/actions/lock`)).status).toBe(409);
    });
    expect(lines).toEqual(['workspace lock failed']);
    expect(events[0]?.resource.meta.status).toBe(409);
  });

  it('fails when it cannot be recorded', async () => {
    const { id } = await api.workspace();
    vi.spyOn(console, 'error').mockImplementation(() => {});
    // Reads of token, workspace and membership come first; then event and change in either order.
    for (const call of [4, 5]) {
      const { said: lines } = await during(async () => {
        api.aws.failCall(call, 'before');
        expect((await api.patch(`workspaces/${id}`, { description: 'x' })).status).toBe(500);
      });
      expect(['', 'workspace update failed']).toContain(lines.join());
    }
    vi.restoreAllMocks();
  });
});

describe('an event', () => {
  it('of the platform names the user on whose behalf it acted, once', async () => {
    const { id, relationships } = await runs.create((await runs.ready()).id);
    const { getRun } = await import('#resources/runs/records.ts');
    const run = await getRun(id);
    if (!run) throw new Error('no run');
    const { events } = await during(async () => {
      const at = new Date().toISOString();
      await trail.keepRunEvent(run, 'apply', at);
      await trail.keepRunEvent(run, 'apply', at);
      await nextMillisecond();
      await trail.keepRunEvent({ ...run, decision: { action: 'apply', by: 'user-gone', at: '' } }, 'discard');
    });
    const shown = {
      version: '0',
      type: 'Resource',
      request: { id: null },
      resource: {
        id,
        type: 'run',
        action: 'apply',
        meta: { workspace_id: relationships.workspace.data.id, workspace: run.workspaceName, outcome: 'allowed' },
      },
    };
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(events).toMatchObject([
      { ...shown, id: expect.stringMatching(uuid), auth: { accessor_id: api.userId, type: 'System' } },
      { auth: { accessor_id: 'user-gone', description: null } },
    ]);
    expect(events[0]?.resource.meta).toEqual(shown.resource.meta);
  });

  it('contains 200 characters of the user agent', async () => {
    const { id } = await api.workspace();
    const { events } = await during(() =>
      api.call('POST', `workspaces/${id}/actions/lock`, { headers: { 'user-agent': `b${'a'.repeat(300)}` } }),
    );
    expect(events[0]?.resource.meta.user_agent).toBe(`b${'a'.repeat(199)}`);
  });
});

describe('a rejected request', () => {
  it('is recorded if it is visible to the caller, or would change something', async () => {
    const { id } = await api.workspace();
    const { events, said: lines } = await during(async () => {
      expect((await api.call('DELETE', 'organizations/acme', { token: reader })).status).toBe(403);
      await nextMillisecond();
      expect((await api.call('DELETE', `workspaces/${id}`, { token: stranger })).status).toBe(404);
      expect((await api.get(`workspaces/${id}`, { token: stranger })).status).toBe(404);
    });
    expect(lines).toEqual(['organization destroy refused', 'workspace destroy refused']);
    expect(events.map(({ auth }) => auth.description)).toEqual(['reader', 'stranger']);
  });

  it('takes the same number of calls whether the resource exists or not', async () => {
    const { id } = await api.workspace();
    const callsFor = async (method: string, workspace: string) => {
      const before = api.aws.calls;
      expect((await api.call(method, `workspaces/${workspace}`, { token: stranger })).status).toBe(404);
      return api.aws.calls - before;
    };
    for (const method of ['GET', 'DELETE']) {
      expect(await callsFor(method, id)).toBe(await callsFor(method, 'ws-unknown000000000'));
    }
  });
});

it('the trail records reads of secrets, and never a secret', async () => {
  const { id } = await api.workspace();
  const canary = `canary-${uniqueName('x')}`;
  const { said: lines } = await during(async () => {
    await api.call('POST', `workspaces/${id}/actions/lock`);
    const { text, ...attributes } = stateFile({ outputs: { a: { value: canary, type: 'string', sensitive: true } } });
    const state = Buffer.from(text).toString('base64');
    const version = (await api.post(`workspaces/${id}/state-versions`, { ...attributes, state })).body.data;
    await api.get(`state-versions/${version.id}?page[number]=${canary}`);
    await api.get(`state-versions/${version.id}/download?page[number]=${canary}`);
    await api.get(`state-version-outputs/${version.relationships.outputs.data[0].id}`);
    await api.post(`workspaces/${id}/vars`, { key: canary, value: canary, category: 'env', sensitive: true });
  });
  expect(lines).toEqual([
    'workspace lock allowed',
    'state_version create allowed',
    'state_version download allowed',
    'state_version_output show allowed',
    'var create allowed',
  ]);
  expect(JSON.stringify(await read())).not.toContain(canary);
});

describe('the trail', () => {
  it('is read in chronological order, by page, from a given time', async () => {
    const { id } = await api.workspace();
    const { events } = await during(async () => {
      for (let i = 0; i < 5; i++) await api.patch(`workspaces/${id}`, { description: String(i) });
    });
    const since = events[1]?.timestamp as string;
    const page = (number: number) => api.get(`${path}?since=${since}&page[size]=2&page[number]=${number}`);
    const [first, second] = [await page(1), await page(2)];
    expect(first.headers['content-type']).toBe('application/json');
    expect(first.body.data).toEqual(events.slice(2, 4));
    expect(first.body.pagination).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: 2,
      total_pages: 2,
      total_count: 3,
    });
    expect(second.body.data).toEqual(events.slice(4));
    expect(second.body.pagination).toMatchObject({ prev_page: 1, next_page: null });
  });

  it('is listed newest first on request, including failed and refused requests', async () => {
    const { id } = await api.workspace();
    const { events } = await during(async () => {
      for (let i = 0; i < 3; i++) {
        await api.patch(`workspaces/${id}`, { description: String(i) });
        await api.call('POST', `workspaces/${id}/actions/lock`);
      }
    });
    expect(events.map(({ resource }) => resource.meta.outcome)).toContain('failed');
    const since = new Date(Date.parse(events[0]?.timestamp ?? '') - 1).toISOString();
    const backward = (number: number, size: number) =>
      api.get(`${path}?since=${since}&sort=-timestamp&page[size]=${size}&page[number]=${number}`);
    expect((await backward(1, 100)).body.data).toEqual(events.toReversed());
    expect((await backward(2, 4)).body.data).toEqual(events.toReversed().slice(4, 8));
    expect((await backward(1, 4)).body.pagination).toMatchObject({ prev_page: null, next_page: 2 });
  });

  it('is searched by user, resource, workspace and outcome', async () => {
    const { id, attributes } = await api.workspace();
    const other = await api.workspace();
    const { events } = await during(async () => {
      await api.patch(`workspaces/${id}`, { description: 'x' });
      await api.patch(`workspaces/${other.id}`, { description: 'x' });
      await api.post(`workspaces/${id}/vars`, { key: 'k', value: 'v', category: 'env' });
      await api.call('POST', `workspaces/${id}/actions/lock`);
      await api.call('POST', `workspaces/${id}/actions/lock`);
      await api.call('DELETE', 'organizations/acme', { token: reader });
    });
    const since = new Date(Date.parse(events[0]?.timestamp ?? '') - 1).toISOString();
    const found = async (query: string): Promise<Event[]> =>
      (await api.get(`${path}?since=${since}&${query}`)).body.data;
    const said = async (query: string) =>
      (await found(query)).map(({ resource: { type, action } }) => `${type} ${action}`);
    const inWorkspace = `filter[workspace][id]=${id}`;
    expect(await said(inWorkspace)).toEqual(['workspace update', 'var create', 'workspace lock', 'workspace lock']);
    expect(await said(`${inWorkspace}&filter[outcome]=failed`)).toEqual(['workspace lock']);
    expect(await said(`${inWorkspace}&filter[resource][type]=var`)).toEqual(['var create']);
    expect(await said('filter[action]=destroy&filter[outcome]=refused')).toEqual(['organization destroy']);
    const [refused] = await found('filter[outcome]=refused');
    expect(await said(`filter[actor][id]=${refused?.auth.accessor_id}`)).toEqual(['organization destroy']);
    expect(await said(`filter[actor][id]=${api.userId}&filter[workspace][id]=${other.id}`)).toEqual([
      'workspace update',
    ]);
    const [variable] = await found(`${inWorkspace}&filter[resource][type]=var`);
    expect(variable?.resource.meta).toMatchObject({ workspace_id: id, workspace: attributes.name });
    const { pagination } = (await api.get(`${path}?since=${since}&${inWorkspace}&page[size]=3`)).body;
    expect(pagination).toMatchObject({ next_page: 2 });
    expect(pagination).not.toHaveProperty('searched_until');
  });

  it('names resources on request, also deleted ones, and none of another organization', async () => {
    const { id, attributes } = await api.workspace();
    const configured = await runs.ready();
    const { events } = await during(async () => {
      await api.post(`workspaces/${id}/vars`, { key: 'region', value: 'v', category: 'env' });
      const gone = await api.post('organizations/acme/projects', { name: 'short-lived' });
      await api.call('DELETE', `projects/${gone.body.data.id}`);
      await api.post('organizations/acme/projects', { name: 'lasting' });
      const key = await api.post('organizations/acme/ssh-keys', { name: 'leftover', value: 'secret' });
      const { keys } = await import('#platform/store/keys.ts');
      await table.update(keys.sshKey(key.body.data.id), { set: { deletedAt: started } });
      await runs.create(configured.id, { message: `${'m'.repeat(90)}\nsecond line` });
      const variable = await api.post(`workspaces/${id}/vars`, { key: 'token', value: 'v', category: 'env' });
      await api.call('DELETE', `workspaces/${id}/vars/${variable.body.data.id}`);
      await api.call('DELETE', `workspaces/${id}`);
    });
    await api.post('organizations', { name: 'apart', email: 'a@b.example' });
    const foreign = await api.post('organizations/apart/projects', { name: 'not-yours' });
    const at = new Date().toISOString();
    await trail.keepEvent({
      ...{ id: 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb', at, organization: 'acme', actor: api.userId, by: 'user' },
      ...{ resource: { type: 'project', id: foreign.body.data.id }, action: 'update', allowed: true },
    });
    const since = new Date(Date.parse(events[0]?.timestamp ?? '') - 1).toISOString();
    const names = async (query: string) =>
      ((await api.get(`${path}?filter[organization][name]=acme&since=${since}${query}`)).body.data as Event[]).map(
        ({ resource: { type, action, meta } }) => [`${type} ${action}`, meta.name, meta.workspace],
      );
    expect(await names('&include=names')).toEqual([
      ['var create', 'region', attributes.name],
      ['project create', undefined, undefined],
      ['project destroy', 'short-lived', undefined],
      ['project create', 'lasting', undefined],
      ['ssh_key create', undefined, undefined],
      ['run create', `${'m'.repeat(79)}…`, expect.any(String)],
      ['var create', undefined, attributes.name],
      ['var destroy', 'token', attributes.name],
      ['workspace destroy', attributes.name, attributes.name],
      ['project update', undefined, undefined],
    ]);
    expect((await names('')).map(([, name]) => name)).toEqual(Array(10).fill(undefined));
    expect((await api.get(`${path}?include=actors`)).status).toBe(400);
  });

  it('is accessible to owners only', async () => {
    for (const token of [reader, stranger]) expect((await api.get(path, { token })).status).toBe(403);
    const elsewhere = await api.get(`${path}?filter[organization][name]=elsewhere`);
    expect(elsewhere.status).toBe(403);
  });

  it.each([
    'since=yesterday',
    'since=2030-13-45T00:00:00Z',
    'since=2030-01-01',
    'sort=newest',
    'page[number]=0',
    'page[number]=21',
    'filter[outcome]=good',
  ])('rejects %s', async (query) => {
    expect((await api.get(`${path}?${query}`)).status).toBe(400);
  });

  it('sets the expiry of new events by the setting, and leaves existing ones unchanged', async () => {
    const event = (at: string, action: string) => ({
      id: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
      at,
      organization: 'kept',
      actor: api.userId,
      by: 'user' as const,
      resource: { type: 'run', id: 'run-x' },
      action,
      allowed: true,
    });
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const [old, recent, last] = [daysAgo(91), daysAgo(30), daysAgo(29)];
    for (const at of [old, recent, last]) await trail.keepEvent(event(at, 'apply'));
    await trail.keepEvent(event(recent, 'discard'));
    const read = async (direction?: 'backward') => {
      const events = [];
      for await (const { at, action } of trail.eventsSince('kept', daysAgo(400), direction)) events.push([at, action]);
      return events;
    };
    expect(await read()).toEqual([
      [recent, 'apply'],
      [last, 'apply'],
    ]);
    expect(await read('backward')).toEqual((await read()).toReversed());
    const { keys } = await import('#platform/store/keys.ts');
    const item = await table.get<{ expiresAt: number }>(keys.auditEvent(event(recent, '')));
    expect(item?.expiresAt).toBe(Math.floor(Date.parse(recent) / 1000) + 90 * 86_400);
  });
});

it("the trail never contains the name of another organization's workspace, regardless of the source of its id", async () => {
  const elsewhere = 'elsewhere-with-secrets';
  expect((await api.post('organizations', { name: elsewhere, email: 'e@example.test' })).status).toBe(201);
  const foreign = (await api.post(`organizations/${elsewhere}/workspaces`, { name: 'merger-plans' })).body.data.id;
  const own = await api.workspace();
  const { keepEvent } = await import('#resources/audit/records.ts');
  const event = (id: string, n: number) => ({
    id: `cccccccc-cccc-4ccc-8ccc-cccccccccc0${n}`,
    at: new Date().toISOString(),
    organization: 'acme',
    actor: api.userId,
    by: 'user' as const,
    tokenId: '',
    requestId: 'named',
    address: '192.0.2.1',
    agent: '',
    resource: { type: 'workspace', id },
    action: 'update',
    allowed: false,
  });
  await keepEvent(event(foreign, 1));
  await keepEvent(event(own.id, 2));
  const { data } = (await api.get('/api/v2/organization/audit-trail?filter[organization][name]=acme')).body;
  const named = data
    .filter(({ id }: { id: string }) => id.startsWith('cccccccc'))
    .map(({ resource: { id, meta } }: { resource: { id: string; meta: { workspace?: string } } }) => [
      id,
      meta.workspace,
    ]);
  expect(named).toEqual([
    [foreign, undefined],
    [own.id, own.attributes.name],
  ]);
});

describe('the trail of one of several organizations', () => {
  const make = async (): Promise<string> => {
    const name = uniqueName('several');
    await api.post('organizations', { name, email: 'a@b.test' });
    return name;
  };
  const of = (name: string, query = '', sent: Sent = {}) =>
    api.get(`${path}?filter[organization][name]=${name}${query}`, sent);
  const actionsIn = async (name: string) =>
    ((await of(name)).body.data as Event[]).map(({ resource: { type, action, id } }) => `${type} ${action} ${id}`);

  it('has to be named, begins with its creation, and contains changes of accounts of its members', async () => {
    const [first, second] = [await make(), await make()];
    const { status, body } = await api.get(path);
    expect([status, body.errors[0].source]).toEqual([400, { parameter: 'filter[organization][name]' }]);
    const { id } = (await api.post(`users/${api.userId}/authentication-tokens`, { description: 'x' })).body.data;
    await api.patch('account/update', { username: 'owner' });
    for (const name of [first, second])
      expect(await actionsIn(name)).toEqual([
        `organization create ${name}`,
        `authentication_token create ${id}`,
        'account update null',
      ]);
    expect((await of(first, '&filter[action]=nothing')).body.pagination).toEqual({
      current_page: 1,
      prev_page: null,
      next_page: null,
      total_pages: 1,
      total_count: 0,
    });
    expect((await of(first, '&page[number]=20')).status).toBe(200);
    expect((await of(first, '&since=')).body.data).toHaveLength(3);
  });

  it('is refused under a former name, and keeps the name of the time', async () => {
    const [former, current] = [await make(), uniqueName('renamed')];
    await api.patch(`organizations/${former}`, { name: current });
    const { status, body } = await of(former);
    expect([status, JSON.stringify(body)]).toEqual([410, expect.stringContaining(current)]);
    expect(await actionsIn(current)).toEqual([`organization create ${former}`, `organization update ${former}`]);
  });

  it('is readable with a token for audit trails, which names no organization, but not from outside of an allowlist', async () => {
    const name = await make();
    const issued = await api.post(`organizations/${name}/authentication-token?token=audit-trails`);
    const { token } = issued.body.data.attributes;
    const outside = { token, address: '198.51.100.9' };
    const statuses = async () => [(await api.get(path, { token })).status, (await api.get(path, outside)).status];
    expect((await api.get(path, { token })).body.data).toHaveLength(2);
    expect(await statuses(), 'without an allowlist').toEqual([200, 200]);
    const list = { name: 'office', 'enforcement-scope': 'organization' };
    const { id } = (await api.post(`organizations/${name}/cidr-range-lists`, list)).body.data;
    await api.post(`cidr-range-lists/${id}/relationships/cidr-ranges`, { range: '192.0.2.0/24' });
    expect(await statuses()).toEqual([200, 403]);
    expect((await of(name, '', { address: '198.51.100.9' })).status, 'an owner').toBe(200);
  });

  it('is closed to a token for audit trails that lives longer than the organization allows', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const owner = actingAs(api, (await createToken(api.userId, 'expiring', inDays(20))).secret);
    const name = uniqueName('several');
    await owner.post('organizations', { name, email: 'a@b.test', 'max-ttl-enabled': true });
    const issued = await owner.post(`organizations/${name}/authentication-token?token=audit-trails`);
    const { token } = issued.body.data.attributes;
    expect((await api.get(path, { token })).status).toBe(200);
    const policies = [{ 'token-type': 'audit_trails', 'max-ttl-ms': 86_400_000 }];
    await owner.patch(`organizations/${name}/token-ttl-policies`, { 'token-ttl-policies': policies });
    expect((await api.get(path, { token })).status).toBe(401);
  });
});
