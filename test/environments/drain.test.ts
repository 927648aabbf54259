import { gunzipSync } from 'node:zlib';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Template } from '#environments/templates/records.ts';
import { uniqueName } from '#test/support/api.ts';
import { type Environments, startEnvironments } from './support.ts';

/** Builds, imports and dry runs while the platform is drained. */

let world: Environments;
let template: Template;
beforeAll(async () => {
  world = await startEnvironments();
  template = await world.addTemplate();
});
const drained = async (input: object) => (await import('#lifecycle/drain/handler.ts')).handler(input);
const drain = () => drained({ action: 'start', reason: 'upgrade' });
const resume = () => drained({ action: 'resume' });
afterEach(resume);

const detail = expect.stringMatching(/starts no new runs now: upgrade\./);

it('the first build is refused, and leaves no environment', async () => {
  await drain();
  const name = uniqueName('dev');
  const { status, body } = await world.create(template, { name });
  expect([status, body]).toEqual([409, expect.objectContaining({ detail })]);
  expect((await world.call('GET', `/users/me/workspace/${name}`)).status).toBe(404);
});

it('a build is refused, except one without a run, and starts after the drain', async () => {
  const [id, other] = [await world.running(template), await world.running(template)];
  await drain();
  const stop = () => world.call('POST', `/workspaces/${id}/builds`, { body: { transition: 'stop' } });
  const { status, body } = await stop();
  expect([status, body]).toEqual([409, expect.objectContaining({ detail })]);
  const orphan = { transition: 'delete', orphan: true };
  expect((await world.call('POST', `/workspaces/${other}/builds`, { body: orphan })).status).toBe(201);
  await resume();
  expect((await stop()).status).toBe(201);
});

it('a dry run of a template version is refused', async () => {
  await drain();
  const path = `/templateversions/${template.activeVersionId}/dry-run`;
  const { status, body } = await world.call('POST', path, { body: { workspace_name: 'w', rich_parameter_values: [] } });
  expect([status, body]).toEqual([409, expect.objectContaining({ detail })]);
});

it('a template version is refused, because its import would run it', async () => {
  await drain();
  const body = gunzipSync(await packFiles({ 'main.tf': '' })).toString('latin1');
  const file = await world.call('POST', '/files', { body, headers: { 'content-type': 'application/x-tar' } });
  const organization = (await world.call('GET', '/organizations/acme')).body.id;
  const version = await world.call('POST', `/organizations/${organization}/templateversions`, {
    body: { file_id: file.body.hash, storage_method: 'file', provisioner: 'terraform', tags: {} },
  });
  expect([version.status, version.body]).toEqual([409, expect.objectContaining({ detail })]);
});
