import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newAgentKeys } from '#platform/net/forwarding/box.ts';
import { Followed, push, sha } from '#test/version-control/support/followed.ts';
import { linkTo, newPool, type RunningForwarder, startForwarder } from './support.ts';

/** Version control that only agents can reach: in these tests the platform itself may not call it. */

const running: RunningForwarder[] = [];
const followed = await Followed.start();
const { api, forge } = followed;
beforeEach(() => {
  followed.reset();
  delete process.env.OUTBOUND_ALLOWED_CIDRS;
});
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())));

const forward = async (token: string, origins = [forge.url]): Promise<RunningForwarder> => {
  const one = await startForwarder(api, token, origins);
  running.push(one);
  return one;
};

const values = () => ({
  'service-provider': 'github',
  'http-url': forge.url,
  'api-url': forge.url,
  'oauth-token-string': 'good',
});
const connect = (pool: string) => api.post('organizations/acme/oauth-clients', values(), linkTo(pool));

/** A connection through a pool with an agent. */
const connected = async () => {
  const pool = await newPool(api);
  const agent = await forward(await pool.newToken());
  const { status, body } = await connect(pool.id);
  if (status !== 201) throw new Error(JSON.stringify(body));
  const token = body.data.relationships['oauth-tokens'].data[0].id as string;
  return { pool, agent, client: body.data, token };
};

describe('a connection through agents', () => {
  it('uses an agent of its pool for checks, webhooks, fetches and statuses', async () => {
    const { pool, agent, client, token } = await connected();
    expect(client.relationships['agent-pool'].data).toEqual({ type: 'agent-pools', id: pool.id });
    await followed.has({ 'main.tf': 'locals {}' });
    const workspace = await followed.workspace(token);
    await followed.settleAndFetch();
    const hook = new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname;
    followed.head = sha(1);
    expect((await followed.deliver(hook, 'push', push(0, 1))).status).toBe(202);
    await followed.settleAndFetch();
    expect(await followed.commitsOf(workspace)).toEqual([sha(0), sha(1)]);
    const versions = (await api.get(`workspaces/${workspace.id}/configuration-versions`)).body.data;
    expect(versions.map(({ attributes }: { attributes: { status: string } }) => attributes.status)).toEqual([
      'uploaded',
      'uploaded',
    ]);
    const { handler } = await import('#version-control/commit-status.ts');
    const [run] = (await followed.runsOf(workspace)).slice(-1);
    await handler({ runId: run.id });
    expect(forge.asked('POST', /\/statuses\//).length).toBeGreaterThan(0);
    // The agent prints requests without query, header and body.
    expect(agent.lines.join('\n')).toContain(`GET ${forge.url}/repos/${followed.identifier}`);
    expect(agent.lines.join('\n')).not.toMatch(/good|X-Amz|Bearer/);
  });

  it('stores tokens so that only its agents can read them', async () => {
    const { pool } = await connected();
    const { queryAll } = await import('#platform/store/table.ts');
    const rows = await queryAll<{ expiresAt?: number }>({ pk: `APOOL#${pool.id}` });
    const lifetimes = rows.flatMap(({ expiresAt }) => (expiresAt ? [expiresAt - Date.now() / 1000] : []));
    for (const seconds of lifetimes) expect(Math.abs(seconds - 43_200), 'up to a day').toBeLessThan(43_201);
    const text = JSON.stringify(rows, (_, value) =>
      value instanceof Uint8Array || value?.type === 'Buffer'
        ? Buffer.from(value.data ?? value).toString('latin1')
        : value,
    );
    expect(rows.length).toBeGreaterThan(2);
    expect(text).not.toContain('good');
    expect(text).not.toContain('Bearer');
  });

  it('reports a missing agent', async () => {
    const pool = await newPool(api);
    const { status, body } = await connect(pool.id);
    expect([status, body.errors[0].detail]).toEqual([
      422,
      expect.stringContaining('no agent of its agent pool forwards requests'),
    ]);
    expect(forge.calls).toEqual([]);
  });

  it('reaches only origins that the agent allows', async () => {
    const pool = await newPool(api);
    await forward(await pool.newToken(), ['https://git.example.com']);
    const { body } = await connect(pool.id);
    expect(body.errors[0].detail).toContain(`the agent does not forward to ${forge.url}`);
    expect(forge.calls).toEqual([]);
  });

  it('sends no request that has expired', async () => {
    const { addRequest, takeRequest } = await import('#platform/net/forwarding/records.ts');
    const { id } = await newPool(api);
    const bytes = Buffer.from('x');
    const takenAfter = async (ms: number) => {
      const until = new Date(Date.now() - ms).toISOString();
      await addRequest(id, { id: `fwd-${ms}`, box: bytes, sender: '', keys: { agent: bytes }, until });
      return (await takeRequest(id, 'agent'))?.id;
    };
    expect([await takenAfter(1_000), await takenAfter(-60_000)]).toEqual([undefined, 'fwd--60000']);
  });

  it('keeps its pool from being deleted', async () => {
    const { pool, client } = await connected();
    const refused = await api.call('DELETE', `/api/v2/agent-pools/${pool.id}`, { token: api.token });
    expect([refused.status, refused.body.errors[0].detail]).toEqual([422, expect.stringContaining('OAuth client')]);
    const cleared = await api.patch(`oauth-clients/${client.id}`, {}, linkTo(null));
    expect(cleared.body.data.relationships['agent-pool'].data).toBeNull();
  });

  it('does not give its stored requests to agents of another pool', async () => {
    const { client } = await connected();
    const other = await newPool(api);
    await forward(await other.newToken());
    const refused = await api.patch(`oauth-clients/${client.id}`, {}, linkTo(other.id));
    expect(refused.body.errors[0].detail).toContain('send oauth-token-string as well');
    const moved = await api.patch(`oauth-clients/${client.id}`, { 'oauth-token-string': 'good' }, linkTo(other.id));
    expect(moved.body.data.relationships['agent-pool'].data.id).toBe(other.id);
  });
});

describe('a token of a pool', () => {
  const register = (token: string, publicKey?: string) =>
    api.call('POST', '/agent/v1/register', {
      token,
      body: { instance: 'i'.repeat(20), name: 'x', ...(publicKey ? { publicKey } : {}) },
    });

  it('of agents that run Terraform gets no requests, and a token of forwarding agents gets no runs', async () => {
    const pool = await newPool(api);
    const { publicKey } = newAgentKeys();
    const [runs, forwards] = [await pool.newToken(), await pool.newToken()];
    const runner = (await register(runs)).body.agent;
    const forwarder = (await register(forwards, publicKey)).body.agent;
    const refused = await register(runs, publicKey);
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('run Terraform')]);
    const request = { agent: forwarder, name: 'x' };
    expect((await api.call('POST', '/agent/v1/request', { token: runs, body: request })).status).toBe(403);
    expect((await api.call('POST', '/agent/v1/request', { token: forwards, body: request })).status).toBe(200);
    const answer = { agent: forwarder, id: 'fwd-1111111111111111', box: 'AAAA' };
    expect((await api.call('POST', '/agent/v1/answer', { token: runs, body: answer })).status).toBe(403);
    const next = { agent: runner, name: 'x', ping: false };
    expect((await api.call('POST', '/agent/v1/next', { token: forwards, body: next })).status).toBe(403);
  });

  it('that names no agent of its pool has no purpose yet', async () => {
    const pool = await newPool(api);
    const token = await pool.newToken();
    const body = { agent: `agent-${'3'.repeat(32)}`, name: 'x' };
    expect((await api.call('POST', '/agent/v1/request', { token, body })).status).toBe(410);
    expect((await register(token)).status).toBe(200);
  });

  it('of another pool gets none of its requests', async () => {
    const [own, foreign] = [await newPool(api), await newPool(api)];
    const { publicKey } = newAgentKeys();
    const agent = (await register(await own.newToken(), publicKey)).body.agent;
    const body = { agent, name: 'x' };
    expect((await api.call('POST', '/agent/v1/request', { token: await foreign.newToken(), body })).status).toBe(410);
  });

  it.each(['', 'no key', Buffer.alloc(44).toString('base64')])(
    'does not register an agent with the invalid public key "%s"',
    async (key) => {
      const pool = await newPool(api);
      expect((await register(await pool.newToken(), key || 'x')).status).toBe(422);
    },
  );
});
