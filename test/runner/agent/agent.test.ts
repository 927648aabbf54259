import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Agent } from '#runner/agent/agent.ts';
import { environmentFor } from '#runner/agent/work.ts';
import { keptStatePath, writeKeptState } from '#runner/program/kept-states.ts';

type Body = { ended?: string; job?: object; why?: string; runId?: string };

/** A platform that answers these calls, by name: with JSON, or with a status. It gives other calls no response. */
const startPlatform = async (answers: Record<string, (body: Body) => object | number | undefined>) => {
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
    ...{ address, token: 'token', name: 'one', single: false, hosts: [], passOn: [], keptPauseMs: 10, say },
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
  const { agent, said, heard, bodiesOf } = await startPlatform({
    next: () => (jobs++ ? wait() : work()),
    claim: (body) => {
      claims.push(body);
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
  expect(bodiesOf('over')).toMatchObject([{ job: { runId: 'run-1', phase: 'plan' }, why: 'signal SIGKILL' }]);
  expect(bodiesOf('ping').at(-1)).toEqual({ agent: 'agent-1', ended: 'exited' });
  await expect.poll(timers, { timeout: 10_000, message: 'timers' }).toBeLessThanOrEqual(before);
});

it('an agent ends after the current run, interrupts it at a second stop, and pings no more with a revoked token', async () => {
  let polls = 0;
  const next = () => (polls++ ? work() : 410);
  const { agent, heard, bodiesOf } = await startPlatform({ next, ping: () => 401 });
  const ended = agent.run();
  await heard('Agent one of pool pool (acme) at http');
  await heard('The agent token was revoked or has expired.');
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
  let offers = 0;
  let jobs: object[] = [];
  const { agent, heard, bodiesOf } = await startPlatform({
    // The platform takes the state only after the run has ended.
    'kept-state': () => ({ action: ++offers === 1 ? 'wait' : 'taken' }),
    next: () => jobs.shift() ?? wait(),
    ping: ({ job }) => (job ? { kill: true } : {}),
  });
  const ended = agent.run();
  await heard('was sent to its run');
  await keep(second);
  // It looks again after each job.
  jobs = [work()];
  await expect.poll(() => existsSync(keptStatePath(folder, second))).toBe(false);
  agent.stop();
  await ended;
  expect(existsSync(keptStatePath(folder, first))).toBe(false);
  expect(bodiesOf('kept-state').map(({ runId }) => runId)).toEqual([first, first, second]);
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
