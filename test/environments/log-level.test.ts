import { afterEach, beforeAll, expect, it } from 'vitest';
import { type Environments, startEnvironments } from './support.ts';

/** Builds with `log_level: debug`. */

let world: Environments;
beforeAll(async () => {
  world = await startEnvironments();
});

afterEach(() => {
  delete process.env.ENVIRONMENTS_DEBUG;
});

it('a debug build is rejected unless the operator has enabled it', async () => {
  const id = await world.running(await world.addTemplate());
  const refused = await world.call('POST', `/workspaces/${id}/builds`, {
    body: { transition: 'start', log_level: 'debug' },
  });
  expect(refused.status).toBe(400);
  expect(refused.body.message).toBe('Terraform debug mode is disabled in the deployment configuration.');
  expect(refused.body.detail).toContain('environmentDebug');
  expect((await world.latest(id)).number).toBe(1);
});

it('a debug build sets Terraform’s log level for owners who request it; other builds do not', async () => {
  process.env.ENVIRONMENTS_DEBUG = 'true';
  const id = await world.running(await world.addTemplate());
  expect((await world.inputsOf(id)).TF_LOG).toBeUndefined();
  const built = await world.call('POST', `/workspaces/${id}/builds`, {
    body: { transition: 'start', log_level: 'debug' },
  });
  expect(built.status).toBe(201);
  expect((await world.inputsOf(id)).TF_LOG).toBe('JSON');
  await world.end(id);
  await world.build(id, 'stop');
  expect((await world.inputsOf(id)).TF_LOG).toBeUndefined();
});

it('a debug build is rejected for other users, without a trace', async () => {
  process.env.ENVIRONMENTS_DEBUG = 'true';
  const template = await world.addTemplate();
  const { token } = await world.members.withLevel('acme', 'admin');
  const id = await world.running(template, {}, { token });
  const refused = await world.call('POST', `/workspaces/${id}/builds`, {
    token,
    body: { transition: 'start', log_level: 'debug' },
  });
  expect(refused.status).toBe(400);
  expect(refused.body.message).toContain('restricted to administrators');
  expect(refused.body.detail).toContain('log_level');
  expect((await world.latest(id)).number).toBe(1);
});

it('another log level is rejected by name', async () => {
  const id = await world.running(await world.addTemplate());
  const refused = await world.call('POST', `/workspaces/${id}/builds`, {
    body: { transition: 'start', log_level: 'trace' },
  });
  expect(refused.status).toBe(400);
  expect(refused.body.validations).toMatchObject([{ field: 'log_level' }]);
});
