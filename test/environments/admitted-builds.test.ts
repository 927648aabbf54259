import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Builds, imports and dry runs while the platform starts no runs of the organization. */

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
