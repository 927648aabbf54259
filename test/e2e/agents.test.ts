import { afterAll, expect, it } from 'vitest';
import { startAgent, stopAgents } from './support/agents.ts';
import { until } from './support/waiting.ts';
import { client, newName, organization, platform, readLog, resources, startRun, untilFinal } from './support/world.ts';

/** A run on an agent: the agent program runs beside the platform, which starts no runner for the run. */

afterAll(stopAgents);

it("an agent of the workspace's pool plans and applies a run, and stops when its token is revoked", async () => {
  const name = newName('agent');
  const pool = await client.create(`/organizations/${organization}/agent-pools`, 'agent-pools', { name });
  const tokens = `/agent-pools/${pool.id}/authentication-tokens`;
  const token = await client.create(tokens, 'authentication-tokens', { description: 'e2e' });
  const workspace = await client.createWorkspace(organization, name, {
    'execution-mode': 'agent',
    'agent-pool-id': pool.id,
  });
  const run = await startRun(workspace, { 'main.tf': resources(['a']) }, { 'auto-apply': true });
  // No agent is connected yet, and the run names the pool that it waits for.
  await until(
    () => client.list(`/runs/${run.id}/run-events`),
    (events) =>
      events.some(({ attributes }) => attributes.description === `The plan is waiting for an agent of pool ${name}.`),
  );
  const { status, 'execution-details': details } = (await client.phase(run, 'plan')).attributes;
  expect(status).toBe('queued');
  expect(details).toEqual({ mode: 'agent', 'agent-pool-id': pool.id, 'agent-pool-name': name });

  const { output, ended } = startAgent(name, token.attributes.token);
  const final = await untilFinal(run);
  expect({ status: final.attributes.status, output: output.text }).toMatchObject({ status: 'applied' });
  const [agent] = await client.list(`/agent-pools/${pool.id}/agents`);
  for (const phase of ['plan', 'apply'] as const) {
    expect((await client.phase(final, phase)).attributes['execution-details']).toMatchObject({
      mode: 'agent',
      'agent-id': agent?.id,
      'agent-name': name,
    });
  }
  expect(await readLog(final, 'apply')).toContain('Apply complete!');
  const over = `The apply of ${run.id} ended (exit code 0).`;
  await until(
    async () => output.text,
    (text) => text.includes(over),
  );

  await client.call('DELETE', `/authentication-tokens/${token.id}`);
  expect(await ended).toBe(3);
  expect(output.text).toContain('The agent token has expired or was revoked');
});

it('an agent of a server without agents names it and exits', async () => {
  const { output, ended } = startAgent(newName('agent'), 'unknown', ['--address', `${platform.url}/elsewhere`]);
  expect(await ended).toBe(1);
  expect(output.text).toContain('/elsewhere does not support agents: ');
});
