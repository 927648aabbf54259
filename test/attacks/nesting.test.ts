import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { Scene, uniqueName } from './support.ts';

/** Deeply nested text is rejected with an error that names it, and crashes no function. */

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

const deep = '['.repeat(200_000);

it('deep nesting is rejected in the configuration of a provider set', async () => {
  for (const hcl of [
    `provider "aws" {\n  a = ${'['.repeat(30_000)}\n}\n`,
    `provider "aws" {\n${'b {\n'.repeat(8_000)}`,
  ]) {
    const { status, body } = await scene.post(scene.owner, `organizations/${scene.organization}/provider-sets`, {
      name: uniqueName('set'),
      'provider-source': 'hashicorp/aws',
      'configuration-hcl': hcl,
    });
    expect([status, body.errors[0].detail]).toEqual([422, expect.stringContaining('200 levels')]);
  }
});

it('deep nesting is rejected in a template of environments', async () => {
  const { environmentsUrl } = scene.platform.local;
  const call = async (path: string, type: string, body: Uint8Array | string) => {
    const headers = { 'coder-session-token': scene.owner, 'content-type': type };
    const answer = await fetch(`${environmentsUrl}/api/v2${path}`, {
      method: 'POST',
      headers,
      body: body as RequestInit['body'],
    });
    return { status: answer.status, body: await answer.json() };
  };
  const archive = gunzipSync(await packFiles({ 'main.tf': `variable "a" {\n  default = ${deep}\n}\n` }));
  const { hash } = (await call('/files', 'application/x-tar', archive)).body as { hash: string };
  const version = { name: 'v1', storage_method: 'file', file_id: hash, provisioner: 'terraform' };
  const path = `/organizations/${scene.organization}/templateversions`;
  const { status, body } = await call(path, 'application/json', JSON.stringify(version));
  expect([status, body]).toEqual([400, expect.objectContaining({ detail: expect.stringContaining('200 levels') })]);
});

it('deep nesting is rejected in states and in request bodies', async () => {
  const { id } = await scene.workspace(scene.owner, scene.organization);
  await scene.must(scene.owner, 'POST', `workspaces/${id}/actions/lock`);
  const value = `${deep}${deep.replaceAll('[', ']')}`;
  const state = `{"version":4,"serial":1,"lineage":"l","terraform_version":"1.11.4","outputs":{"a":{"value":${value},"type":"dynamic"}},"resources":[]}`;
  const refused = await scene.post(scene.owner, `workspaces/${id}/state-versions`, {
    serial: 1,
    lineage: 'l',
    md5: (await import('node:crypto')).createHash('md5').update(state).digest('hex'),
    state: Buffer.from(state).toString('base64'),
  });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.status).toBeLessThan(500);
  const answer = await fetch(`${scene.platform.local.url}/api/v2/organizations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.owner}`, 'content-type': 'application/vnd.api+json' },
    body: `{"data":${value}}`,
  });
  expect(answer.status).toBe(400);
});
