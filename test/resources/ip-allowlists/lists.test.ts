import { describe, expect, it } from 'vitest';
import { detailOf, startApi, uniqueName } from '#test/support/api.ts';
import { ids } from '#test/support/runs.ts';
import { makeOrganization } from './support.ts';

/** Documents of IP allowlists; enforcement.test.ts tests their effect. */

const api = await startApi();

const lists = 'organizations/acme/cidr-range-lists';
const newPool = async (organization = 'acme'): Promise<string> =>
  (await api.post(`organizations/${organization}/agent-pools`, { name: uniqueName('pool') })).body.data.id;
const pools = (...poolIds: string[]) => ({ data: poolIds.map((id) => ({ type: 'agent-pools', id })) });

describe('IP allowlists', () => {
  it('are created, read, listed, searched, changed and deleted, with their ranges', async () => {
    const name = uniqueName('Office');
    const made = await api.post(lists, { name, description: 'ranges of offices' });
    expect(made.status).toBe(201);
    const { id } = made.body.data;
    expect(made.body.data).toMatchObject({
      id: expect.stringMatching(/^crl-/),
      type: 'cidr-range-lists',
      attributes: { name, description: 'ranges of offices', 'enforcement-scope': 'selected_agent_pools' },
      relationships: {
        organization: { data: { type: 'organizations', id: 'acme' } },
        'agent-pools': { data: [] },
        'cidr-ranges': { data: [] },
      },
      links: { self: `/api/v2/cidr-range-lists/${id}` },
    });
    const path = `cidr-range-lists/${id}`;
    const range = await api.post(`${path}/relationships/cidr-ranges`, {
      range: '203.0.113.0/24',
      description: 'floor 1',
      enabled: false,
    });
    expect([range.status, range.body.data]).toMatchObject([
      201,
      {
        type: 'cidr-ranges',
        attributes: { range: '203.0.113.0/24', description: 'floor 1', enabled: false },
        relationships: { 'cidr-range-list': { data: { type: 'cidr-range-lists', id } } },
      },
    ]);
    const rangePath = `cidr-ranges/${range.body.data.id}`;
    expect((await api.get(rangePath)).body.data).toEqual(range.body.data);
    expect((await api.get(path)).body.data.relationships['cidr-ranges'].data).toEqual([
      { type: 'cidr-ranges', id: range.body.data.id },
    ]);
    expect((await api.get(`${path}/relationships/cidr-ranges`)).body.data).toEqual([range.body.data]);
    expect((await api.get(`${lists}?q=${name.toLowerCase()}`)).body.data).toHaveLength(1);
    expect((await api.get(`${lists}?q=nothing-like-it`)).body.data).toEqual([]);
    const changed = await api.patch(rangePath, { enabled: true, range: '203.0.113.0/25' });
    expect(changed.body.data.attributes).toMatchObject({
      range: '203.0.113.0/25',
      description: 'floor 1',
      enabled: true,
    });
    expect((await api.call('DELETE', rangePath)).status).toBe(204);
    expect((await api.get(rangePath)).status).toBe(404);
    expect((await api.call('DELETE', path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
    expect(ids((await api.get(lists)).body.data)).not.toContain(id);
  });

  it('of selected agent pools have pools assigned, until the scope changes', async () => {
    const [one, two] = [await newPool(), await newPool()];
    const made = await api.post(lists, { name: uniqueName('l') }, { 'agent-pools': pools(one) });
    const path = `cidr-range-lists/${made.body.data.id}`;
    const assigned = async () => (await api.get(path)).body.data.relationships['agent-pools'].data;
    const relationship = `${path}/relationships/agent-pools`;
    expect((await api.call('POST', relationship, { body: pools(two, one) })).status).toBe(204);
    expect(ids(await assigned())).toEqual([one, two]);
    expect((await api.call('DELETE', relationship, { body: pools(one) })).status).toBe(204);
    expect(ids(await assigned())).toEqual([two]);
    expect((await api.call('DELETE', `agent-pools/${two}`)).status).toBe(204);
    expect(await assigned()).toEqual([]);
    await api.call('POST', relationship, { body: pools(one) });
    expect((await api.patch(path, { 'enforcement-scope': 'all_agent_pools' })).status).toBe(200);
    await api.patch(path, { 'enforcement-scope': 'selected_agent_pools' });
    expect(await assigned()).toEqual([]);
  });

  it('reject invalid input, naming the field', async () => {
    const { name: other } = await makeOrganization(api);
    const foreign = await newPool(other);
    const name = uniqueName('l');
    const made = await api.post(lists, { name, 'enforcement-scope': 'all_agent_pools' });
    const path = `cidr-range-lists/${made.body.data.id}`;
    const ranges = `${path}/relationships/cidr-ranges`;
    await api.post(ranges, { range: '2001:db8::/32' });
    const refused = async (answer: Promise<{ status: number; body: { errors: { detail: string }[] } }>) => {
      const { status, body } = await answer;
      return `${status} ${body.errors[0]?.detail}`;
    };
    expect(await refused(api.post(lists, { name: name.toUpperCase() }))).toMatch(/422 Name has already been taken/);
    expect(await refused(api.post(lists, {}))).toMatch(/422 name: is missing/);
    expect(await refused(api.post(lists, { name: '' }))).toMatch(/422 name: must have 1 to 90/);
    expect(await refused(api.post(lists, { name: 'x', 'enforcement-scope': 'workspaces' }))).toMatch(
      /422 enforcement-scope/,
    );
    expect(await refused(api.post(ranges, { range: '10.0.0.1' }))).toMatch(/422 range: .*10\.0\.0\.1\/32/);
    expect(await refused(api.post(ranges, {}))).toMatch(/422 range: is missing/);
    expect(await refused(api.post(ranges, { range: '2001:DB8:0::/32' }))).toMatch(/422 Range has already been taken/);
    const relationship = `${path}/relationships/agent-pools`;
    expect(await refused(api.call('POST', relationship, { body: pools(await newPool()) }))).toMatch(
      /422 agent-pools: .*selected_agent_pools; it is all_agent_pools/,
    );
    await api.patch(path, { 'enforcement-scope': 'selected_agent_pools' });
    expect(await refused(api.call('POST', relationship, { body: pools(foreign) }))).toMatch(/422 id: agent pool/);
    expect(await refused(api.call('POST', relationship, { body: {} }))).toMatch(/422 data: is missing/);
  });

  it('apply to the organization one at a time', async () => {
    const { name, addList } = await makeOrganization(api);
    await addList('organization', '192.0.2.0/24', { name: 'first' });
    const second = await api.post(`organizations/${name}/cidr-range-lists`, {
      name: 'second',
      'enforcement-scope': 'organization',
    });
    expect([second.status, second.body.errors[0]]).toMatchObject([
      422,
      {
        source: { pointer: '/data/attributes/enforcement-scope' },
        detail: expect.stringContaining('first already does'),
      },
    ]);
  });

  it('are limited to 25, with 300 ranges in all, which fit into one item', async () => {
    const { name, addList, addRange } = await makeOrganization(api);
    const { changeIpAllowlists } = await import('#resources/ip-allowlists/records.ts');
    const list = await addList('selected_agent_pools');
    const longest = 'ä'.repeat(255);
    await changeIpAllowlists(
      name,
      ([one]) =>
        Array.from({ length: 25 }, (_, n) => ({
          ...(one as NonNullable<typeof one>),
          id: n ? `${one?.id}${n}` : list,
          name: `${n} ${longest.slice(0, 80)}`,
          description: longest,
          agentPoolIds: Array.from({ length: 100 }, (_, i) => `apool-${String(i).padStart(16, '0')}`),
          ranges: Array.from({ length: 12 }, (_, i) => ({
            id: `cidr-${n}-${String(i).padStart(16, '0')}`,
            range: `2001:db8:${n}:${i}::/64`,
            description: longest,
            enabled: true,
            updatedAt: new Date().toISOString(),
          })),
        })),
      async () => {},
    );
    const more = await addRange(list, '192.0.2.0/24');
    expect(detailOf(more)).toEqual([422, expect.stringContaining('300 ranges')]);
    const another = await api.post(`organizations/${name}/cidr-range-lists`, { name: 'x' });
    expect(detailOf(another)).toEqual([422, expect.stringContaining('25 IP allowlists')]);
  });

  it('reject outdated changes with If-Match, and keep all concurrent changes', async () => {
    const { addList, addRange } = await makeOrganization(api);
    const list = await addList('all_agent_pools');
    const path = `cidr-range-lists/${list}`;
    const { etag = '' } = (await api.get(path)).headers;
    await addRange(list, '10.0.0.0/8');
    const outdated = await api.call('PATCH', path, {
      headers: { 'if-match': etag },
      body: { data: { attributes: { name: 'n' } } },
    });
    expect(outdated.status).toBe(412);
    const added = await Promise.all([...Array(10).keys()].map((n) => addRange(list, `${n + 11}.0.0.0/8`)));
    expect(added.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect((await api.get(`${path}/relationships/cidr-ranges`)).body.data).toHaveLength(11);
  });

  it('end with their organization', async () => {
    const { name, addList } = await makeOrganization(api);
    const list = await addList('organization', '192.0.2.0/24');
    await api.call('DELETE', `organizations/${name}`);
    const { getLeft } = await leftOf(name, list);
    expect(await getLeft()).toEqual([undefined, undefined]);
  });
});

const leftOf = async (name: string, list: string) => {
  const { keys } = await import('#platform/store/keys.ts');
  const { get } = await import('#platform/store/table.ts');
  return { getLeft: () => Promise.all([get(keys.ipAllowlists(name)), get(keys.ipAllowlist(list))]) };
};
