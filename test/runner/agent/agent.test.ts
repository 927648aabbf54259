import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Agent } from '#runner/agent/agent.ts';
import { ended, environmentFor } from '#runner/agent/work.ts';
import { keptStatePath, writeKeptState } from '#runner/program/kept-states.ts';

const keptPauseMs = 50;

type Body = { ended?: string; job?: object; why?: string; runId?: string };

/** A platform that answers these calls, by name: with JSON, or with a status. It gives other calls no response. */
const startPlatform = async (
  answers: Record<string, (body: Body) => object | number | undefined>,
  { single = false } = {},
) => {
  const calls: [call: string, body: Body][] = [];
  const all: typeof answers = {
    register: () => ({ agent: 'agent-1', pool: 'pool', organization: 'acme', pingSeconds: 0.1, storage: '' }),
    over: () => ({}),
    ...answers,
  };
  const server = createServer(async (request, response) => {
    const [call = ''] = /[\w-]+$/.exec(request.url ?? '') ?? [];
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}') as Body;
    calls.push([call, body]);
    const answer = all[call]?.(body);
    if (answer !== undefined) response.writeHead(Number(answer) || 200).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const agent = new Agent({
    ...{ address, token: 'token', name: 'one', single, hosts: [], passOn: [], keptPauseMs, say },
  });
  const bodiesOf = (name: string) => calls.filter(([call]) => call === name).map(([, body]) => body);
  return { agent, said, bodiesOf, heard: (text: string) => expect.poll(() => said.join('\n')).toContain(text) };
};
const work = () => ({ action: 'work', work: { runId: 'run-1', phase: 'plan', workspace: 'network', claim: 'claim' } });
const wait = () => ({ action: 'wait', afterMs: 50 });

it('an agent kills a runner that hangs, and can take the next job', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  let jobs = 0;
  const claims: Body[] = [];
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('stepform-agent-'));
  const others = folders();
  let modes: number[] = [];
  const { agent, said, heard, bodiesOf } = await startPlatform({
    next: () => (jobs++ ? wait() : work()),
    claim: (body) => {
      claims.push(body);
      modes = folders()
        .filter((name) => !others.includes(name))
        .map((name) => statSync(join(tmpdir(), name)).mode);
      return undefined;
    },
    ping: () => (claims.length ? { kill: true } : 403),
  });
  const ended = agent.run();
  await heard('The plan of run-1 ended (signal SIGKILL)');
  await expect.poll(() => jobs).toBeGreaterThan(1);
  agent.stop();
  agent.stop();
  await ended;
  expect(said).toContain('The runner of the plan of run-1 hangs: killing it.');
  expect(claims).toMatchObject([{ claim: 'claim' }]);
  expect(said.at(-1)).toBe('Stopping now.');
  expect(said.join()).not.toContain('revoked');
  expect(modes, "a folder that Terraform's user can enter").toEqual([0o40711]);
  expect(bodiesOf('over')).toMatchObject([
    { agent: 'agent-1', job: { runId: 'run-1', phase: 'plan' }, why: 'signal SIGKILL' },
  ]);
  expect(bodiesOf('ping').at(-1)).toEqual({ agent: 'agent-1', ended: 'exited' });
  await expect.poll(timers, { timeout: 10_000, message: 'timers' }).toBeLessThanOrEqual(before);
});

it('an agent ends after the current run, interrupts it at a second stop, and pings no more with a revoked token', async () => {
  let polls = 0;
  const next = () => (polls++ ? work() : 410);
  const { agent, heard, bodiesOf } = await startPlatform({ next, ping: () => 401 });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const ended = agent.run();
  await heard('Agent one of pool pool (acme) at http');
  await heard('The plan of run-1 (workspace network) starts.');
  vi.advanceTimersByTime(100);
  await heard('The agent token was revoked or has expired.');
  vi.advanceTimersByTime(1000);
  agent.stop();
  await heard('Stopping after the current run; press again to interrupt it.');
  agent.stop();
  await heard('Interrupting Terraform.');
  await ended;
  expect([bodiesOf('next').length, bodiesOf('register').length]).toEqual([2, 2]);
  expect(bodiesOf('ping').map((body) => body.ended)).toEqual([undefined, 'exited']);
});

it('an agent sends the states that runners kept until the platform has them, and removes their files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-kept-'));
  const [first, second] = ['run-1234567890abcdef', 'run-2234567890abcdef'] as const;
  const key = { key: randomBytes(32).toString('base64'), sealed: 'c2VhbGVk' };
  const keep = (runId: string) => writeKeptState(keptStatePath(folder, runId), Buffer.from('{}'), runId, key);
  process.env.STEPFORM_UNSAVED_STATES = folder;
  await keep(first);
  const offers: number[] = [];
  let jobs: object[] = [work()];
  const polls: number[] = [];
  // The platform takes the state only after the run has ended.
  let offersLeft = Number.POSITIVE_INFINITY;
  const { agent, heard, bodiesOf } = await startPlatform({
    'kept-state': () => {
      offers.push(performance.now());
      return { action: offersLeft-- > 0 ? 'wait' : 'taken' };
    },
    over: () => {
      offersLeft = Math.min(offersLeft, 3);
      return {};
    },
    next: () => {
      polls.push(performance.now());
      return jobs.shift() ?? wait();
    },
    ping: ({ job }) => (job ? { kill: true } : {}),
  });
  const ended = agent.run();
  await heard('was sent to its run');
  const pauses = offers.slice(1).map((at, n) => at - (offers[n] ?? 0));
  expect(Math.min(...pauses), 'ms between attempts').toBeGreaterThanOrEqual(keptPauseMs - 1);
  await keep(second);
  // It looks again after each job.
  jobs = [work()];
  await expect.poll(() => existsSync(keptStatePath(folder, second))).toBe(false);
  agent.stop();
  await ended;
  expect(existsSync(keptStatePath(folder, first))).toBe(false);
  // The first poll is followed by a job; a pause has up to a tenth of jitter.
  const betweenPolls = polls.slice(2).map((at, n) => at - (polls[n + 1] ?? 0));
  expect(Math.min(...betweenPolls), 'ms between polls').toBeGreaterThan(40);
  expect(bodiesOf('kept-state').map(({ runId }) => runId)).toEqual([...pauses.map(() => first), first, second]);
});

it('an agent for one job ends after it, and a runner that cannot be started ends with the reason', async () => {
  expect(await ended(spawn(join(tmpdir(), 'none')))).toMatch(/^it could not be started: .*ENOENT/);
  const { agent, bodiesOf } = await startPlatform({ next: work, ping: ({ job }) => ({ kill: job }) }, { single: true });
  await agent.run();
  expect(bodiesOf('next')).toHaveLength(1);
});

it("a runner's environment has none of the agent's tokens, and the agent's certificate authority", () => {
  const kept = { TF_LOG: 'trace', SSL_CERT_FILE: '/ca.pem', STEPFORM_CACHE: '/cache' };
  const tokens = { STEPFORM_AGENT_TOKEN: 't', TFC_AGENT_TOKEN: 't', TFE_TOKEN: 't', TF_TOKEN_app_terraform_io: 't' };
  delete process.env.NODE_EXTRA_CA_CERTS;
  Object.assign(process.env, kept, tokens);
  const surroundings = { address: 'https://a.test', hosts: ['a.test', 'b.test', 'a.test'], passOn: ['X', 'Y'] };
  const environment = environmentFor({ claim: 'c' }, surroundings);
  expect(environment).toMatchObject({
    ...kept,
    NODE_EXTRA_CA_CERTS: '/ca.pem',
    STEPFORM_URL: 'https://a.test',
    STEPFORM_HOSTS: 'a.test,b.test',
    STEPFORM_PASS_ON: 'X,Y',
    STEPFORM_CLAIM: 'c',
    STEPFORM_PROVIDER_CACHE: '/cache/providers',
  });
  for (const token of Object.keys(tokens)) expect(environment).not.toHaveProperty(token);
  delete process.env.SSL_CERT_FILE;
  expect(environmentFor({ claim: 'c' }, surroundings)).not.toHaveProperty('NODE_EXTRA_CA_CERTS');
});
