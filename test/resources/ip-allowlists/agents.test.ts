import { describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { makeOrganization, office, elsewhere as outside } from './support.ts';

/** Agents of pools with IP allowlists. */

const api = await startApi();

const poolOf = async (organization: string) => {
  const { id } = (await api.post(`organizations/${organization}/agent-pools`, { name: uniqueName('pool') })).body.data;
  return { id: id as string, token: await tokenOf(id) };
};

const tokenOf = async (pool: string): Promise<string> =>
  (await api.post(`agent-pools/${pool}/authentication-tokens`, { description: 'd' })).body.data.attributes.token;

const register = (token: string, address: string) =>
  api.call('POST', '/agent/v1/register', { token, address, body: { instance: 'i'.repeat(20), name: 'a' } });

const statuses = async (token: string) => [
  (await register(token, office)).status,
  (await register(token, outside)).status,
];

describe('agents', () => {
  it('are not subject to the allowlist of the organization, nor users to those of pools', async () => {
    const { name, addList, members } = await makeOrganization(api);
    const { token } = await poolOf(name);
    const member = await members.member(name);
    const list = await addList('organization', '192.0.2.0/24');
    expect(await statuses(token)).toEqual([200, 200]);
    await api.patch(`cidr-range-lists/${list}`, { 'enforcement-scope': 'all_agent_pools' });
    expect(await statuses(token)).toEqual([200, 403]);
    expect((await api.get(`organizations/${name}`, { token: member.token, address: outside })).status).toBe(200);
  });

  it('outside of the allowlist are refused in every call, with their address in the error', async () => {
    const { name, addList } = await makeOrganization(api);
    const { token, id } = await poolOf(name);
    const { body } = await register(token, outside);
    await addList('all_agent_pools', '192.0.2.0/24');
    const agent = body.agent;
    for (const [call, sent] of Object.entries({
      register: { instance: 'i'.repeat(20), name: 'a' },
      next: { agent, name: 'a', ping: false },
      ping: { agent },
      over: { agent, job: { runId: `run-${'a'.repeat(16)}`, phase: 'plan' }, why: '' },
    })) {
      const refused = await api.call('POST', `/agent/v1/${call}`, {
        token,
        address: outside,
        body: sent,
        headers: { 'x-forwarded-for': office },
      });
      expect([call, refused.status, refused.body.error]).toEqual([call, 403, expect.stringContaining(outside)]);
    }
    // A token created later, and a token of a pool created later.
    expect(await statuses(await tokenOf(id))).toEqual([200, 403]);
    expect(await statuses((await poolOf(name)).token)).toEqual([200, 403]);
  });

  it('are admitted by any list of their pool', async () => {
    const { name, addList } = await makeOrganization(api);
    const [one, two] = [await poolOf(name), await poolOf(name)];
    const list = await addList('selected_agent_pools', '192.0.2.0/24');
    expect([await statuses(one.token), await statuses(two.token)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    const relationship = `cidr-range-lists/${list}/relationships/agent-pools`;
    const body = { data: [{ type: 'agent-pools', id: one.id }] };
    await api.call('POST', relationship, { body });
    expect([await statuses(one.token), await statuses(two.token)]).toEqual([
      [200, 403],
      [200, 200],
    ]);
    const other = await addList('all_agent_pools', '198.51.100.0/24');
    expect([await statuses(one.token), await statuses(two.token)]).toEqual([
      [200, 200],
      [403, 200],
    ]);
    await api.call('DELETE', `cidr-range-lists/${other}`);
    await api.call('DELETE', relationship, { body });
    expect(await statuses(one.token)).toEqual([200, 200]);
  });

  it('cost no additional call without an allowlist', async () => {
    const { name, addList } = await makeOrganization(api);
    const { token } = await poolOf(name);
    await register(token, office);
    const counted = async () => {
      const before = api.aws.calls;
      await register(token, office);
      return api.aws.calls - before;
    };
    const without = await counted();
    const list = await addList('all_agent_pools', '192.0.2.0/24');
    expect(await counted()).toBe(without + 1);
    await api.call('DELETE', `cidr-range-lists/${list}`);
    expect(await counted()).toBe(without);
  });
});
