import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Agent } from '#runner/agent/agent.ts';

/** A platform whose only job goes to a runner that gets no response; the platform reports that the runner hangs. */
const startPlatform = async () => {
  const ends: { job: object; why: string }[] = [];
  const answers: Record<string, (body: never) => object> = {
    register: () => ({ agent: 'agent-1', pool: 'pool', organization: 'acme', pingSeconds: 0.1, storage: '' }),
    next: () => ({ action: 'work', work: { runId: 'run-1', phase: 'plan', workspace: 'network', claim: 'claim' } }),
    ping: () => ({ kill: true }),
    over: (body: { job: object; why: string }) => ends.push(body) && {},
  };
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const [, call = ''] = /^\/agent\/v1\/(\w+)$/.exec(request.url ?? '') ?? [];
    const answer = answers[call];
    if (answer) response.end(JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString()) as never)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ends };
};

it('an agent kills a runner that hangs, and can take the next job', async () => {
  const { address, ends } = await startPlatform();
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  await new Agent({ address, token: 'token', name: 'one', single: true, hosts: [], passOn: [], say }).run();
  expect(said).toContain('The runner of the plan of run-1 hangs: killing it.');
  expect(ends).toMatchObject([{ job: { runId: 'run-1', phase: 'plan' }, why: 'signal SIGKILL' }]);
}, 60_000);
