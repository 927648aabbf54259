import { afterEach, describe, expect, it, vi } from 'vitest';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { memberHelpers } from '#test/support/members.ts';

/** Agent pools, their tokens, and their use by workspaces. */

const api = await startApi();
const members = await memberHelpers();
afterEach(() => vi.useRealTimers());

const pools = 'organizations/acme/agent-pools';
const refs = (type: string, ...ids: string[]) => ({ data: ids.map((id) => ({ type, id })) });
const makePool = async (attributes: object = {}, relationships: object = {}) => {
  const made = await api.post(pools, { name: uniqueName('pool'), ...attributes }, relationships);
  expect(made.status).toBe(200);
  return made.body.data;
};
const withPool = (id: string) => ({ 'execution-mode': 'agent', 'agent-pool-id': id });
const errorOf = ({ status, body }: { status: number; body: { errors: { detail: string; source?: object }[] } }) => ({
  status,
  detail: body.errors[0]?.detail,
});

const errorOfAny = ({ body }: { body: { errors?: { detail: string }[] } }) => body.errors?.[0]?.detail;

describe('an agent pool', () => {
  it('is created, listed, changed and deleted', async () => {
    const pool = await makePool({ name: 'Builders' });
    expect(pool).toMatchObject({
      id: expect.stringMatching(/^apool-/),
      attributes: { name: 'Builders', 'organization-scoped': true, 'agent-count': 0 },
    });
    expect((await api.post(pools, { name: 'Builders' })).body.errors[0].detail).toBe('Name has already been taken');
    const changed = await api.patch(`agent-pools/${pool.id}`, { name: 'Masons', 'organization-scoped': false });
    expect(changed.body.data.attributes).toMatchObject({ name: 'Masons', 'organization-scoped': false });
    expect((await api.get(`${pools}?q=MAS`)).body.data.map(({ id }: { id: string }) => id)).toEqual([pool.id]);
    // The old name can be used again.
    const other = await makePool({ name: 'Builders' });
    const taken = await api.patch(`agent-pools/${pool.id}`, { name: 'Builders' });
    expect(detailOf(taken)).toEqual([422, 'Name has already been taken']);
    const names = async (query: string): Promise<string[]> =>
      (await api.get(`${pools}?${query}`)).body.data.map((one: typeof pool) => one.attributes.name);
    const rising = await names('sort=name');
    expect(rising).toEqual([...rising].sort());
    expect(await names('sort=-name')).toEqual(rising.toReversed());
    for (const sort of ['color', 'constructor', '__proto__', '-toString']) {
      expect((await api.get(`${pools}?sort=${sort}`)).status).toBe(400);
      expect((await api.get(`agent-pools/${pool.id}/agents?sort=${sort}`)).status).toBe(400);
    }
    for (const { id } of [pool, other]) {
      expect((await api.call('DELETE', `agent-pools/${id}`)).status).toBe(204);
      expect((await api.get(`agent-pools/${id}`)).status).toBe(404);
    }
    expect((await api.post(pools, {})).body.errors[0].source.pointer).toBe('/data/attributes/name');
  });

  it('is readable by teams, and managed by teams with the permission', async () => {
    const pool = await makePool();
    const [reader, manager] = [await members.withFlags('acme'), await members.withFlags('acme', 'manage-agent-pools')];
    const tokens = `agent-pools/${pool.id}/authentication-tokens`;
    expect((await api.get(`agent-pools/${pool.id}`, { token: reader.token })).status).toBe(200);
    expect((await api.get(tokens, { token: reader.token })).status).toBe(403);
    const body = { data: { attributes: { description: 'theirs' } } };
    const made = await api.call('POST', tokens, { token: manager.token, body });
    expect(made.status).toBe(201);
    expect((await api.get(`authentication-tokens/${made.body.data.id}`, { token: reader.token })).status).toBe(404);
    expect((await api.get(`authentication-tokens/${made.body.data.id}`, { token: manager.token })).status).toBe(200);
  });

  it('has tokens that are shown once, and need a description', async () => {
    const pool = await makePool();
    const tokens = `agent-pools/${pool.id}/authentication-tokens`;
    expect((await api.post(tokens, {})).body.errors[0].source.pointer).toBe('/data/attributes/description');
    const { id, attributes, relationships } = (await api.post(tokens, { description: 'ci' })).body.data;
    expect(attributes).toMatchObject({ description: 'ci', token: expect.stringMatching(/^sfagent_/) });
    expect(relationships['created-by'].data.id).toBe(api.userId);
    const listed = await api.get(tokens);
    expect(listed.body.data).toMatchObject([{ id, attributes: { description: 'ci', token: null } }]);
    expect(JSON.stringify(listed.body)).not.toContain(attributes.token);
  });
});

describe('the agents of a pool', () => {
  const register = async (poolId: string, name: string) => {
    const { registerAgent } = await import('#resources/agents/agents.ts');
    return registerAgent({ id: poolId, organization: 'acme' }, { instance: uniqueName(name), name, address: null });
  };
  const pinged = async (id: string, lastPingAt: string) => {
    const { keys } = await import('#platform/store/keys.ts');
    const { queryAll, update } = await import('#platform/store/table.ts');
    const agents = await queryAll<{ pk: string; sk: string; name: string }>({
      pk: keys.agentPool(id).pk,
      prefix: 'AGENT#',
    });
    for (const { pk, sk, name } of agents) if (name === 'old') await update({ pk, sk }, { set: { lastPingAt } });
  };
  const namesIn = async (path: string): Promise<string[]> =>
    (await api.get(path)).body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);

  it('are listed by creation time, and filtered by their last ping', async () => {
    const { id } = await makePool();
    for (const name of ['old', 'new']) await register(id, name);
    await pinged(id, '2026-01-01T00:00:00.000Z');
    const path = `agent-pools/${id}/agents`;
    const rising = await namesIn(path);
    expect(rising.toSorted()).toEqual(['new', 'old']);
    expect(await namesIn(`${path}?sort=-created-at`)).toEqual(rising.toReversed());
    expect(await namesIn(`${path}?filter[last-ping-since]=2026-01-01T00:00:00Z`)).toHaveLength(2);
    expect(await namesIn(`${path}?filter[last-ping-since]=2026-01-01T00:00:01Z`)).toEqual(['new']);
    expect((await api.get(`${path}?filter[last-ping-since]=yesterday`)).status).toBe(400);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 400 * 24 * 3_600_000 });
    expect(await namesIn(path), 'agents that are long gone').toEqual([]);
  });

  it('are deleted with their pool, and leave nothing in the table', async () => {
    const store = { ...(await import('#platform/store/keys.ts')), ...(await import('#platform/store/table.ts')) };
    const { id } = await makePool();
    const agent = await register(id, 'builder');
    expect((await api.get(`agents/${agent.id}`)).status).toBe(200);
    for (const other of [`${agent.id}x`, 'agent-', id, `${agent.id.slice(0, -1)}`])
      expect((await api.get(`agents/${other}`)).status, other).toBe(404);
    await store.update(store.keys.agentPool(id), { set: { deletedAt: '2026-01-01T00:00:00.000Z' } });
    expect((await api.get(`agents/${agent.id}`)).status, 'an agent of a deleted pool').toBe(404);
    await store.update(store.keys.agentPool(id), { remove: ['deletedAt'] });
    expect((await api.call('DELETE', `agent-pools/${id}`)).status).toBe(204);
    expect(await store.queryAll({ pk: store.keys.agentPool(id).pk })).toEqual([]);
  });
});

describe('the deletion of an agent pool', () => {
  const load = async () => ({
    ...(await import('#resources/agents/pools/records.ts')),
    ...(await import('#resources/agents/pools/uses.ts')),
    ...(await import('#resources/users/tokens.ts')),
    ...(await import('#platform/store/keys.ts')),
    ...(await import('#platform/store/table.ts')),
  });
  const listed = async (): Promise<string[]> => (await api.get(pools)).body.data.map(({ id }: { id: string }) => id);

  it('hides it from all users after the first write', async () => {
    const store = await load();
    for (let n = 2, isCut = true; isCut; n++) {
      const pool = await makePool();
      api.aws.failCall(n, 'before');
      isCut = await store.deleteAgentPool(pool).then(
        () => false,
        () => true,
      );
      api.aws.failCall(0, 'before');
      expect((await api.get(`agent-pools/${pool.id}`)).status, `cut off at call ${n}`).toBe(404);
      expect(await listed(), `cut off at call ${n}`).not.toContain(pool.id);
      expect(await store.getAgentPools([pool.id])).toEqual([]);
      await expect(store.usePool(pool.id, 'ws-aaaaaaaaaaaaaaaa')).rejects.toThrow('is gone');
      expect(await store.usesOf(pool.id), 'who could not use it leaves no entry').toEqual([]);
    }
    await expect(store.usePool('apool-aaaaaaaaaaaaaaaa', 'ws-aaaaaaaaaaaaaaaa')).rejects.toThrow('is gone');
  });

  it('deletes its tokens', async () => {
    const store = await load();
    const pool = await makePool();
    await api.post(`agent-pools/${pool.id}/authentication-tokens`, { description: 'ci' });
    expect(await store.listTokens(pool.id)).toHaveLength(1);
    expect((await api.call('DELETE', `agent-pools/${pool.id}`)).status).toBe(204);
    expect(await store.listTokens(pool.id)).toEqual([]);
  });

  it('is rejected while a workspace uses it or a project has it as its default', async () => {
    const store = await load();
    const [used, isDefault, left] = [await makePool(), await makePool(), await makePool()];
    await api.workspace(withPool(used.id));
    const settings = { 'default-execution-mode': 'agent', 'default-agent-pool-id': isDefault.id };
    expect((await api.post('organizations/acme/projects', { name: uniqueName('Project'), ...settings })).status).toBe(
      201,
    );
    // As if a request had been interrupted before it used the pool.
    const { id: other } = await api.workspace();
    await store.usePool(left.id, other);
    expect(await store.isPoolUsed(left.id), 'about to be used').toBe(true);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    expect(await Promise.all([used, isDefault, left].map(({ id }) => store.isPoolUsed(id)))).toEqual([
      true,
      true,
      false,
    ]);
    expect((await api.call('DELETE', `agent-pools/${used.id}`)).status).toBe(422);
    expect((await api.get(`agent-pools/${used.id}`)).status, 'it stays').toBe(200);
    expect((await api.call('DELETE', `agent-pools/${left.id}`)).status).toBe(204);
  });

  it('releases its name, and a pool is not listed by the former name of an interrupted rename', async () => {
    const store = await load();
    const pool = await makePool();
    const former = { ...store.keys.agentPoolName('acme', `${pool.attributes.name}-old`), holder: pool.id };
    await store.put(former);
    expect((await listed()).filter((id) => id === pool.id)).toHaveLength(1);
    await store.update(store.keys.agentPool(pool.id), { set: { name: 'renamed-since' } });
    expect(await listed(), 'known by former names alone').not.toContain(pool.id);
  });
});

describe('a default agent pool', () => {
  it('must be available to all workspaces of its project or organization, and requires execution mode agent', async () => {
    const [open, closed] = [await makePool(), await makePool({ 'organization-scoped': false })];
    const { id: excluded } = await api.workspace();
    const partly = await makePool({}, { 'excluded-workspaces': refs('workspaces', excluded) });
    const { id: project } = (await api.post('organizations/acme/projects', { name: uniqueName('Project') })).body.data;
    const own = await makePool({ 'organization-scoped': false }, { 'allowed-projects': refs('projects', project) });
    const choose = async (pool: string | null, mode = 'agent') => {
      const settings = { 'default-execution-mode': mode, 'default-agent-pool-id': pool };
      return errorOfAny(await api.patch(`projects/${project}`, settings));
    };
    expect(await choose(closed.id)).toMatch(/is not available to all workspaces/);
    expect(await choose(partly.id)).toMatch(/is not available to all workspaces/);
    expect(await choose('apool-aaaaaaaaaaaaaaaa')).toMatch(/not found in acme/);
    expect(await choose(null)).toMatch(/must be specified/);
    expect(await choose(open.id, 'remote')).toMatch(/must not be specified unless/);
    expect(await choose(own.id)).toBeUndefined();
    expect(await choose(open.id)).toBeUndefined();
    expect(await choose(null, 'remote')).toBeUndefined();
  });
});

describe('a workspace', () => {
  it('uses a pool only with execution mode agent', async () => {
    const pool = await makePool();
    const { id } = await api.workspace(withPool(pool.id));
    const shown = async () => (await api.get(`workspaces/${id}`)).body.data;
    expect(await shown()).toMatchObject({
      attributes: { 'execution-mode': 'agent', 'setting-overwrites': { 'execution-mode': true, 'agent-pool': true } },
      relationships: { 'agent-pool': { data: { type: 'agent-pools', id: pool.id } } },
    });
    expect((await api.get(`agent-pools/${pool.id}`)).body).not.toHaveProperty('included');
    const using = (await api.get(`agent-pools/${pool.id}?include=workspaces`)).body;
    expect(using.data.relationships.workspaces.data).toEqual([{ type: 'workspaces', id }]);
    expect(using.included[0].id).toBe(id);
    const [included] = (await api.get(`workspaces/${id}?include=agent_pool`)).body.included;
    expect(included).toMatchObject({ id: pool.id, type: 'agent-pools' });
    const other = await makePool();
    await api.patch(`workspaces/${id}`, { 'agent-pool-id': other.id });
    expect((await api.get(`agent-pools/${pool.id}`)).body.data.relationships.workspaces.data).toEqual([]);
    await api.patch(`workspaces/${id}`, { 'execution-mode': 'remote' });
    expect((await shown()).relationships['agent-pool'].data).toBeNull();
    expect(errorOf(await api.patch(`workspaces/${id}`, { 'agent-pool-id': pool.id }))).toEqual({
      status: 422,
      detail: 'agent-pool-id: requires execution-mode "agent"; set both',
    });
    expect(errorOf(await api.patch(`workspaces/${id}`, { 'execution-mode': 'agent' })).detail).toContain('is required');
    expect(errorOf(await api.patch(`workspaces/${id}`, withPool('apool-x'))).detail).toContain('not found');
  });

  it('keeps its pool from being deleted', async () => {
    const pool = await makePool();
    const { id, attributes } = await api.workspace(withPool(pool.id));
    const refused = errorOf(await api.call('DELETE', `agent-pools/${pool.id}`));
    expect(refused).toEqual({
      status: 422,
      detail: expect.stringContaining(`used by workspaces (${attributes.name}), or`),
    });
    expect((await api.get(`agent-pools/${pool.id}`)).status).toBe(200);
    await api.patch(`workspaces/${id}`, { 'execution-mode': 'local' });
    expect((await api.call('DELETE', `agent-pools/${pool.id}`)).status).toBe(204);
  });

  it('inherits the pool of its project or organization', async () => {
    const [first, second] = [await makePool(), await makePool()];
    const shown = async (id: string) => {
      const { attributes, relationships } = (await api.get(`workspaces/${id}`)).body.data;
      return [attributes['execution-mode'], relationships['agent-pool'].data?.id];
    };
    const own = { 'default-execution-mode': 'agent', 'default-agent-pool-id': first.id };
    const made = await api.post('organizations/acme/projects', { name: uniqueName('Project'), ...own });
    const project = made.body.data;
    expect(project.relationships['default-agent-pool'].data.id).toBe(first.id);
    const inProject = { project: { data: { type: 'projects', id: project.id } } };
    const name = uniqueName('ws');
    const { id } = (await api.post('organizations/acme/workspaces', { name }, inProject)).body.data;
    expect(await shown(id)).toEqual(['agent', first.id]);
    await api.patch(`projects/${project.id}`, { 'default-agent-pool-id': second.id });
    expect(await shown(id)).toEqual(['agent', second.id]);
    // The first pool is no longer in use; the second one is.
    expect((await api.call('DELETE', `agent-pools/${first.id}`)).status).toBe(204);
    expect((await api.call('DELETE', `agent-pools/${second.id}`)).status).toBe(422);

    const home = (pool: string | null) => ({
      'default-agent-pool': { data: pool && { type: 'agent-pools', id: pool } },
    });
    const agents = { 'default-execution-mode': 'agent' };
    expect(errorOf(await api.patch('organizations/acme', agents)).detail).toContain(
      "default-agent-pool: must be specified when using 'agent' execution mode",
    );
    const narrow = await makePool({ 'organization-scoped': false });
    expect(errorOf(await api.patch('organizations/acme', agents, home(narrow.id))).detail).toContain(
      'not available to all workspaces',
    );
    const third = await makePool();
    expect((await api.patch('organizations/acme', agents, home(third.id))).status).toBe(200);
    await api.patch(`projects/${project.id}`, { 'setting-overwrites': { 'default-execution-mode': false } });
    expect(await shown(id)).toEqual(['agent', third.id]);
    expect((await api.call('DELETE', `agent-pools/${third.id}`)).status).toBe(422);
    await api.patch('organizations/acme', { 'default-execution-mode': 'remote' });
    expect(await shown(id)).toEqual(['remote', undefined]);
    expect((await api.call('DELETE', `agent-pools/${third.id}`)).status).toBe(204);
    expect((await api.call('DELETE', `agent-pools/${second.id}`)).status).toBe(204);
  });

  it('may use pools that allow it or its project', async () => {
    const [allowed, excluded, stranger] = [await api.workspace(), await api.workspace(), await api.workspace()];
    const project = (await api.post('organizations/acme/projects', { name: uniqueName('Project') })).body.data;
    const pool = await makePool(
      { 'organization-scoped': false },
      {
        'allowed-workspaces': refs('workspaces', allowed.id, excluded.id),
        'allowed-projects': refs('projects', project.id),
        'excluded-workspaces': refs('workspaces', excluded.id),
      },
    );
    const take = (id: string) => api.patch(`workspaces/${id}`, withPool(pool.id));
    expect((await take(allowed.id)).status).toBe(200);
    for (const { id } of [excluded, stranger])
      expect(errorOf(await take(id)).detail).toContain('is not available to this workspace');
    const inProject = { project: { data: { type: 'projects', id: project.id } } };
    const name = uniqueName('ws');
    const made = await api.post('organizations/acme/workspaces', { name, ...withPool(pool.id) }, inProject);
    expect(made.status).toBe(201);
    // Pools that only its former project may use stay behind.
    const home = stranger.relationships.project.data;
    expect((await api.patch(`workspaces/${made.body.data.id}`, {}, { project: { data: home } })).status).toBe(422);
    const move = { data: [{ type: 'workspaces', id: made.body.data.id }] };
    const moved = await api.call('POST', `projects/${home.id}/relationships/workspaces`, { body: move });
    expect(moved.status).toBe(422);
    const usable = async (query: string) =>
      (await api.get(`${pools}?${query}`)).body.data.some(({ id }: { id: string }) => id === pool.id);
    expect(await usable(`filter[allowed_workspaces][name]=${allowed.attributes.name}`)).toBe(true);
    expect(await usable(`filter[allowed-workspaces][name]=${stranger.attributes.name}`)).toBe(false);
    expect(await usable(`filter[allowed_projects][name]=${project.attributes.name}`)).toBe(true);
    expect(await usable('filter[allowed_projects][name]=nothing')).toBe(false);
    const unknown = await api.patch(`agent-pools/${pool.id}`, {}, { 'allowed-workspaces': refs('workspaces', 'ws-x') });
    expect(errorOf(unknown).detail).toBe('allowed-workspaces: workspace ws-x not found in acme');
  });
});
