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

const detail = expect.stringMatching(/starts runs of organization other only \(STEPFORM_RUNS_OF\), not of acme/);

it('the first build is rejected, and leaves no environment', async () => {
  process.env.RUNS_OF = 'other';
  const name = uniqueName('dev');
  const { status, body } = await world.create(template, { name });
  expect([status, body]).toEqual([409, expect.objectContaining({ detail })]);
  expect((await world.call('GET', `/users/me/workspace/${name}`)).status).toBe(404);
});

it('builds of an environment are rejected, and it can be started again afterwards', async () => {
  const [id, other] = [await world.running(template), await world.running(template)];
  process.env.RUNS_OF = 'other';
  const path = `/workspaces/${id}/builds`;
  const { status, body } = await world.call('POST', path, { body: { transition: 'stop' } });
  expect([status, body]).toEqual([409, expect.objectContaining({ detail })]);
  const orphan = await world.call('POST', `/workspaces/${other}/builds`, {
    body: { transition: 'delete', orphan: true },
  });
  expect(orphan.status, 'without a run').toBe(201);
  delete process.env.RUNS_OF;
  expect((await world.call('POST', path, { body: { transition: 'stop' } })).status).toBe(201);
});

it('a dry run of a template version is rejected', async () => {
  process.env.RUNS_OF = 'other';
  const path = `/templateversions/${template.activeVersionId}/dry-run`;
  const { status, body } = await world.call('POST', path, { body: { workspace_name: 'w', rich_parameter_values: [] } });
  expect([status, body]).toEqual([409, expect.objectContaining({ detail })]);
});

it('a template version is rejected, because its import would run it', async () => {
  process.env.RUNS_OF = 'other';
  const body = gunzipSync(await packFiles({ 'main.tf': '' })).toString('latin1');
  const headers = { 'content-type': 'application/x-tar' };
  const file = await world.call('POST', '/files', { body, headers });
  const organization = (await world.call('GET', '/organizations/acme')).body.id;
  const version = await world.call('POST', `/organizations/${organization}/templateversions`, {
    body: { file_id: file.body.hash, storage_method: 'file', provisioner: 'terraform', tags: {} },
  });
  expect([version.status, version.body]).toEqual([409, expect.objectContaining({ detail })]);
});
