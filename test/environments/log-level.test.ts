import { afterEach, expect, it } from 'vitest';
import { startEnvironments } from './support.ts';

/** Builds with `log_level: debug`. */

const world = await startEnvironments();

afterEach(() => {
  delete process.env.ENVIRONMENTS_DEBUG;
});

const debugged = (log_level: string, sent = {}) => ({ ...sent, body: { transition: 'start', log_level } });

it('a debug build sets Terraform’s log level for owners who request it, if the operator has enabled it', async () => {
  const id = await world.running(await world.addTemplate());
  expect(await world.build(id, 'start', debugged('debug'))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('disabled'), detail: expect.stringContaining('environmentDebug') },
  });
  process.env.ENVIRONMENTS_DEBUG = 'true';
  expect((await world.build(id, 'start', debugged('debug'))).status).toBe(201);
  expect(await world.inputsOf(id)).toMatchObject({ TF_LOG: 'JSON' });
  await world.end(id);
  await world.build(id, 'stop');
  expect(await world.inputsOf(id)).not.toHaveProperty('TF_LOG');
});

it('a debug build is rejected for other users, and another level by name, without a trace', async () => {
  process.env.ENVIRONMENTS_DEBUG = 'true';
  const user = await world.members.withLevel('acme', 'admin');
  const id = await world.running(await world.addTemplate(), {}, user);
  expect(await world.build(id, 'start', debugged('debug', user))).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('restricted to administrators') },
  });
  expect(await world.build(id, 'start', debugged('trace'))).toMatchObject({
    status: 400,
    body: { validations: [{ field: 'log_level' }] },
  });
  expect((await world.latest(id)).number).toBe(1);
});
