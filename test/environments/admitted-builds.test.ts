import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Template } from '#environments/templates/records.ts';
import { uniqueName } from '#test/support/api.ts';
import { type Environments, startEnvironments } from './support.ts';

/** Builds, imports and dry runs on a machine restricted to runs of another organization. */

let world: Environments;
let template: Template;
beforeAll(async () => {
  world = await startEnvironments();
  template = await world.addTemplate();
});
afterEach(() => {
  delete process.env.RUNS_OF;
});

it('builds, imports and dry runs are rejected without a trace, and accepted afterwards', async () => {
  const [id, other] = [await world.running(template), await world.running(template)];
  const name = uniqueName('dev');
  const body = gunzipSync(await packFiles({ 'main.tf': '' })).toString('latin1');
  const file = await world.call('POST', '/files', { body, headers: { 'content-type': 'application/x-tar' } });
  process.env.RUNS_OF = 'other';
  const detail = expect.stringMatching(/starts runs of organization other only \(STEPFORM_RUNS_OF\), not of acme/);
  for (const answer of [
    await world.create(template, { name }),
    await world.build(id, 'stop'),
    await world.call('POST', `/templateversions/${template.activeVersionId}/dry-run`, { body: {} }),
    await world.call('POST', '/organizations/acme/templateversions', { body: { file_id: file.body.hash } }),
  ])
    expect(answer).toMatchObject({ status: 409, body: { detail } });
  expect((await world.call('GET', `/users/me/workspace/${name}`)).status).toBe(404);
  const orphan = await world.build(other, 'delete', { body: { transition: 'delete', orphan: true } });
  expect(orphan.status, 'without a run').toBe(201);
  delete process.env.RUNS_OF;
  expect((await world.build(id, 'stop')).status).toBe(201);
});
