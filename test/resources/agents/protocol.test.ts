import { describe, expect, it, vi } from 'vitest';
import type { Run } from '#run/run.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';

/** Agents receive jobs of their own pool, each once; a job survives the end of its agent. */

const api = await startApi();
const help = await runHelpers(api);
const { keys } = await import('#platform/store/keys.ts');
const { queryAll } = await import('#platform/store/table.ts');
const load: {
  planQueued(task: { runId: string; token: string }): Promise<void>;
  finishRun: typeof import('#lifecycle/phases/finish.ts').finishRun;
  claimPhase: typeof import('#lifecycle/phases/phases.ts').claimPhase;
  reportPhase: typeof import('#lifecycle/phases/phases.ts').reportPhase;
  recordHeartbeat: typeof import('#runner/api/caller.ts').recordHeartbeat;
  jobsOf(pool: string): Promise<unknown[]>;
} = {
  planQueued: (await import('#lifecycle/states/plan-queued.ts')).handler,
  ...(await import('#lifecycle/phases/finish.ts')),
  ...(await import('#lifecycle/phases/phases.ts')),
  ...(await import('#runner/api/caller.ts')),
  jobsOf: (pool) => queryAll({ pk: keys.agentPool(pool).pk, prefix: 'JOB#' }),
};

const makePool = async () => {
  const pool = (await api.post('organizations/acme/agent-pools', { name: uniqueName('pool') })).body.data;
  const made = await api.post(`agent-pools/${pool.id}/authentication-tokens`, { description: 'd' });
  const { id, attributes } = made.body.data;
  return {
    id: pool.id as string,
    name: pool.attributes.name as string,
    token: attributes.token as string,
    tokenId: id,
  };
};
type Pool = Awaited<ReturnType<typeof makePool>>;

const call = (name: string, token: string | null, body: object) =>
  api.call('POST', `/agent/v1/${name}`, { token, body });

let instances = 0;
const agentOf = async ({ token }: Pool, name = 'one') => {
  const { body } = await call('register', token, { instance: `instance-${++instances}`.padEnd(20, '-'), name });
  const agent = body.agent as string;
  return {
    id: agent,
    next: async (ping = false) => (await call('next', token, { agent, name, ping })).body,
    ping: async (runId: string) => (await call('ping', token, { agent, job: { runId, phase: 'plan' } })).body,
    over: (runId: string, why: string) => call('over', token, { agent, job: { runId, phase: 'plan' }, why }),
  };
};

/** A run in a workspace with the pool, advanced to the pool's queue. */
const queued = async (pool: Pool): Promise<string> => {
  const agents = { 'execution-mode': 'agent', 'agent-pool-id': pool.id };
  const { id: workspace } = await help.ready(agents);
  const { id } = await help.create(workspace);
  await load.planQueued({ runId: id, token: `${id} token` });
  return id;
};
const now = async (id: string) => (await help.store.getRun(id)) as Run;
const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });

describe('a run of a workspace with an agent pool', () => {
  it("starts no container, waits in the pool's queue, and names the pool", async () => {
    const pool = await makePool();
    const id = await queued(pool);
    await load.planQueued({ runId: id, token: `${id} again` });
    expect(api.aws.containers.filter(({ startedBy }) => startedBy === id)).toEqual([]);
    expect(await load.jobsOf(pool.id)).toHaveLength(1);
    const events = (await api.get(`runs/${id}/run-events`)).body.data;
    const told = events.filter(({ attributes }: { attributes: { action: string } }) =>
      attributes.action.includes('agent'),
    );
    expect(told).toMatchObject([
      { attributes: { description: `The plan is waiting for an agent of pool ${pool.name}.` } },
    ]);
    const ofPool = `organizations/acme/runs?filter[agent_pool_names]=${pool.name}`;
    expect((await api.get(ofPool)).body.data.map((one: { id: string }) => one.id)).toEqual([id]);
    const plan = (await api.get(`runs/${id}/plan`)).body.data.attributes;
    expect(plan).toMatchObject({
      status: 'queued',
      'execution-details': { mode: 'agent', 'agent-pool-name': pool.name },
    });
    expect(plan['status-timestamps']['agent-queued-at']).toBe(plan['status-timestamps']['queued-at']);
  });

  it('names the hosts that were not resolved in time', async () => {
    const pool = await makePool();
    const id = await queued(pool);
    await load.finishRun(id, 'PlanErrored', { Error: 'States.Timeout' });
    expect(await now(id)).toMatchObject({
      status: 'errored',
      endReason: `No agent of pool ${pool.name} picked up the plan in time. Start one (stepform agent), then start a new run.`,
    });
    const agent = await agentOf(pool);
    expect(await agent.next()).toMatchObject({ action: 'wait' });
    expect(await load.jobsOf(pool.id)).toEqual([]);
  });
});

describe('agents', () => {
  it('of one pool get each job once, oldest first, under concurrent requests', async () => {
    const pool = await makePool();
    const runs = [await queued(pool), await queued(pool)];
    const agents = await Promise.all(Array.from({ length: 5 }, () => agentOf(pool)));
    const answers = await Promise.all(agents.map((agent) => agent.next()));
    const given = answers.filter(({ action }) => action === 'work').map(({ work }) => work.runId);
    expect(given.sort()).toEqual([...runs].sort());
    const [first] = [await queued(pool), await queued(pool)];
    expect((await (await agentOf(pool)).next()).work.runId).toBe(first);
  });

  it('kill a runner that does not claim its job in time, and then accept another job', async () => {
    const pool = await makePool();
    const id = await queued(pool);
    const agent = await agentOf(pool);
    await agent.next();
    later(90_000);
    expect(await agent.ping(id)).toEqual({});
    later(11_000);
    expect(await agent.ping(id)).toEqual({ kill: true });
    const other = await agentOf(pool);
    expect((await other.next()).work.runId).toBe(id);
    expect(await other.ping(id)).toEqual({});
    expect(await agent.ping(id)).toEqual({ kill: true });
  });

  it('kill a runner that is still running five minutes after the end of its run', async () => {
    const pool = await makePool();
    const id = await queued(pool);
    const agent = await agentOf(pool);
    const { work } = await agent.next();
    expect(await load.claimPhase(work.claim, 'nonce')).toBeDefined();
    later(200_000);
    expect(await agent.ping(id)).toEqual({});
    await help.store.updateRun(id, { set: { 'plan.report': { outcome: 'errored' } } });
    await load.finishRun(id, 'PlanErrored');
    later(299_000);
    expect(await agent.ping(id)).toEqual({});
    later(2000);
    expect(await agent.ping(id)).toEqual({ kill: true });
  });

  it('receive no jobs of another pool', async () => {
    const [own, foreign] = [await makePool(), await makePool()];
    const id = await queued(own);
    const stranger = await agentOf(foreign);
    expect(await stranger.next()).toMatchObject({ action: 'wait' });
    const agent = await agentOf(own);
    expect((await agent.next()).work.runId).toBe(id);
    // Nor can the pool's token ping as an agent of another pool, or end its job.
    expect((await call('ping', foreign.token, { agent: agent.id })).status).toBe(410);
    expect((await call('next', foreign.token, { agent: agent.id, name: 'x', ping: false })).status).toBe(410);
    await load.claimPhase(`${id}.plan.x`, 'nonce');
    expect(
      (await call('over', foreign.token, { agent: agent.id, job: { runId: id, phase: 'plan' }, why: 'x' })).status,
    ).toBe(200);
    expect((await now(id)).plan.report).toBeUndefined();
  });

  it('that end before they start leave the job to others, and only the new claim is valid', async () => {
    const pool = await makePool();
    const id = await queued(pool);
    const [dead, alive] = [await agentOf(pool, 'dead'), await agentOf(pool, 'alive')];
    const { claim: void_ } = (await dead.next()).work;
    expect(await alive.next()).toMatchObject({ action: 'wait' });
    later(101_000);
    const { claim } = (await alive.next()).work;
    vi.useRealTimers();
    expect(await load.claimPhase(void_, 'dead')).toBeUndefined();
    expect(await load.claimPhase(claim, 'alive')).toBeDefined();
    expect((await now(id)).plan.agent).toEqual({ id: alive.id, name: 'alive' });
    expect(await dead.next()).toMatchObject({ action: 'wait' });
    expect(await load.jobsOf(pool.id)).toEqual([]);
  });

  it('receive no canceled job', async () => {
    const pool = await makePool();
    const id = await queued(pool);
    await api.post(`runs/${id}/actions/cancel`);
    expect(await (await agentOf(pool)).next()).toMatchObject({ action: 'wait' });
  });

  it('report that a runner stopped without reporting, which errors its phase immediately', async () => {
    const pool = await makePool();
    const id = await queued(pool);
    const agent = await agentOf(pool);
    const { claim } = (await agent.next()).work;
    await agent.over(id, 'exit code 1');
    expect((await now(id)).plan.report).toBeUndefined();
    await load.claimPhase(claim, 'nonce');
    await agent.over(id, 'exit code 1');
    expect((await now(id)).plan.report).toMatchObject({
      outcome: 'errored',
      message: 'The runner stopped during the plan (exit code 1). The state is unchanged.',
    });
  });

  it('cost two reads per poll and one write per heartbeat when idle', async () => {
    const agent = await agentOf(await makePool());
    // The use of a token is recorded once per hour.
    await agent.next();
    const costOf = async (ping: boolean): Promise<number> => {
      const before = api.aws.calls;
      await agent.next(ping);
      return api.aws.calls - before;
    };
    expect([await costOf(false), await costOf(true)]).toEqual([2, 3]);
  });

  it('report their own status until they stop pinging', async () => {
    const pool = await makePool();
    const agent = await agentOf(pool, 'build-1');
    const read = async () => (await api.get(`agents/${agent.id}`)).body.data.attributes;
    expect(await read()).toMatchObject({ name: 'build-1', status: 'idle', 'ip-address': '192.0.2.1' });
    const id = await queued(pool);
    await agent.next();
    expect((await read()).status).toBe('busy');
    expect((await api.call('DELETE', `agents/${agent.id}`)).status).toBe(422);
    await agent.over(id, 'exit code 0');
    expect((await read()).status).toBe('idle');
    later(121_000);
    expect((await read()).status).toBe('unknown');
    vi.useRealTimers();
    await call('ping', pool.token, { agent: agent.id, ended: 'exited' });
    expect((await read()).status).toBe('exited');
    expect((await api.get(`agent-pools/${pool.id}`)).body.data.attributes['agent-count']).toBe(0);
    expect((await api.call('DELETE', `agents/${agent.id}`)).status).toBe(204);
    expect((await call('ping', pool.token, { agent: agent.id })).status).toBe(410);
  });
});

describe('the runner of an agent', () => {
  it('is stopped with its run, which waits for its report or its deadline', async () => {
    const pool = await makePool();
    const [first, second] = [await queued(pool), await queued(pool)];
    const agent = await agentOf(pool);
    for (const id of [first, second]) {
      const { claim } = (await agent.next()).work;
      await load.claimPhase(claim, id);
      const finishing = load.finishRun(id, 'PlanErrored', { Error: 'States.HeartbeatTimeout' });
      await expect(finishing).rejects.toThrow('has not stopped yet (agent one)');
      expect(await load.recordHeartbeat({ run: await now(id), phase: 'plan' })).toEqual({ signal: 'interrupt' });
    }
    await load.reportPhase(await now(first), 'plan', { outcome: 'errored' });
    await load.finishRun(first, 'PlanErrored', { Error: 'States.HeartbeatTimeout' });
    expect((await now(first)).status).toBe('errored');
    later(90_000);
    expect(await load.recordHeartbeat({ run: await now(second), phase: 'plan' })).toEqual({ signal: 'kill' });
    await expect(load.finishRun(second, 'PlanErrored')).rejects.toThrow('has not stopped yet');
    later(131_000);
    await load.finishRun(second, 'PlanErrored', { Error: 'States.HeartbeatTimeout' });
    vi.useRealTimers();
    expect((await now(second)).status).toBe('errored');
  });
});

describe('a token of a pool', () => {
  it('serves agents only, and agents can call nothing else', async () => {
    const { token, id } = await makePool();
    for (const path of ['organizations/acme', `agent-pools/${id}`, 'account/details', 'runs/run-x']) {
      expect([path, (await api.get(path, { token })).status]).toEqual([path, 401]);
    }
    for (const other of [null, api.token, `${token}x`]) {
      expect((await call('register', other, { instance: 'x'.repeat(20), name: 'x' })).status).toBe(401);
    }
  });

  it('stops working immediately when revoked or when its pool is deleted', async () => {
    const pool = await makePool();
    const agent = await agentOf(pool);
    expect((await api.call('DELETE', `authentication-tokens/${pool.tokenId}`)).status).toBe(204);
    expect((await call('next', pool.token, { agent: agent.id, name: 'x', ping: true })).status).toBe(401);
    const other = await makePool();
    expect((await api.call('DELETE', `agent-pools/${other.id}`)).status).toBe(204);
    expect((await call('register', other.token, { instance: 'x'.repeat(20), name: 'x' })).status).toBe(401);
  });
});
