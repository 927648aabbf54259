import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '#clients/client/client.ts';
import { Agent } from '#runner/agent/agent.ts';
import { keptStatePath, writeKeptState } from '#runner/program/kept-states.ts';

/** An agent that starts on a machine where a runner kept a state, while the platform has no jobs. */

const runId = 'run-1234567890abcdef';
const folder = mkdtempSync(join(tmpdir(), 'agent-kept-'));
const offers: { runId: string }[] = [];
const answers: Record<string, object> = {
  '/agent/v1/register': { agent: 'agent-1', pool: 'a', organization: 'acme', pingSeconds: 30 },
  '/agent/v1/next': { action: 'wait', afterMs: 50 },
};
const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  if (request.url === '/runner/v1/kept-state') {
    offers.push(JSON.parse(Buffer.concat(parts).toString()));
    // The platform takes the state only after the run has ended.
    response.end(JSON.stringify({ action: offers.length === 1 ? 'wait' : 'taken' }));
  } else response.end(JSON.stringify(answers[request.url ?? ''] ?? {}));
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

it('an agent sends the states that runners kept until the platform has them, and removes their files', async () => {
  const file = keptStatePath(folder, runId);
  const key = { key: randomBytes(32).toString('base64'), sealed: 'c2VhbGVk' };
  await writeKeptState(file, Buffer.from('{}'), runId, key);
  process.env.STEPFORM_UNSAVED_STATES = folder;
  const said: string[] = [];
  const agent = new Agent({
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hosts: [],
    passOn: [],
    token: 'token',
    name: 'a',
    single: false,
    keptPauseMs: 10,
    say: (text) => said.push(text),
  });
  const ended = agent.run();
  await until(
    async () => said.join('\n'),
    (text) => text.includes('was sent to its run'),
    10_000,
  );
  expect(existsSync(file)).toBe(false);
  agent.stop();
  await ended;
  expect(offers.map((offer) => offer.runId)).toEqual([runId, runId]);
});
