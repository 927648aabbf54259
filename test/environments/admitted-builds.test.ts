import { gunzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Settings of the operator that reject builds, imports and dry runs. */

const world = await startEnvironments();
const template = await world.addTemplate();
const drain = async (input: object) => (await import('#lifecycle/drain/handler.ts')).handler(input);

const restrict = async () => Object.assign(process.env, { RUNS_OF: 'other' });
const unrestrict = async () => delete process.env.RUNS_OF;
const only = /starts runs of organization other only \(STEPFORM_RUNS_OF\), not of acme/;
const start = () => drain({ action: 'start', reason: 'upgrade' });
const resume = () => drain({ action: 'resume' });

it.each<[string, () => Promise<unknown>, () => Promise<unknown>, RegExp]>([
  ['a machine is restricted to another organization', restrict, unrestrict, only],
  ['the platform is drained', start, resume, /starts no new runs now: upgrade\./],
])('builds, imports and dry runs are rejected without a trace while %s, and accepted afterwards', async (...row) => {
  const [, begin, end, reason] = row;
  const [id, other] = [await world.running(template), await world.running(template)];
  const name = uniqueName('dev');
  const body = gunzipSync(await packFiles({ 'main.tf': '' })).toString('latin1');
  const file = await world.call('POST', '/files', { body, headers: { 'content-type': 'application/x-tar' } });
  await begin();
  for (const answer of [
    await world.create(template, { name }),
    await world.build(id, 'stop'),
    await world.call('POST', `/templateversions/${template.activeVersionId}/dry-run`, { body: {} }),
    await world.call('POST', '/organizations/acme/templateversions', { body: { file_id: file.body.hash } }),
  ])
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringMatching(reason) } });
  expect((await world.call('GET', `/users/me/workspace/${name}`)).status).toBe(404);
  const orphan = await world.build(other, 'delete', { body: { transition: 'delete', orphan: true } });
  expect(orphan.status, 'without a run').toBe(201);
  await end();
  expect((await world.build(id, 'stop')).status).toBe(201);
});

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
