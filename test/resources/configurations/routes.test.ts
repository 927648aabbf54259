import { describe, expect, it } from 'vitest';
import { gzipHead, startApi } from '#test/support/api.ts';

const api = await startApi();
const { putObject } = await import('#platform/store/bucket.ts');

const fromCli = { headers: { 'x-terraform-integration': 'cloud', 'terraform-version': '1.11.4' } };
const create = async (workspaceId: string, attributes: object = {}, sent = {}) => {
  const answer = await api.post(`workspaces/${workspaceId}/configuration-versions`, attributes, {}, sent);
  expect(answer.status).toBe(201);
  return answer.body.data;
};
const runsOf = async (workspaceId: string) => (await api.get(`workspaces/${workspaceId}/runs`)).body.data;

describe('a configuration version', () => {
  it('accepts its upload without credentials, and becomes uploaded at the next read', async () => {
    const workspace = await api.workspace();
    const version = await create(workspace.id, { 'auto-queue-runs': false, speculative: true }, fromCli);
    expect(version).toMatchObject({
      type: 'configuration-versions',
      attributes: {
        status: 'pending',
        'auto-queue-runs': false,
        speculative: true,
        provisional: false,
        source: 'terraform+cloud',
      },
    });
    const url = version.attributes['upload-url'];
    const pending = (await api.get(`configuration-versions/${version.id}`)).body.data.attributes;
    expect(pending).toMatchObject({ status: 'pending', 'upload-url': null });
    const put = await fetch(url, {
      method: 'PUT',
      body: gzipHead,
      headers: { 'content-type': 'application/octet-stream', accept: 'application/json, */*', 'user-agent': 'go-tfe' },
    });
    expect(put.status).toBe(200);
    const read = (await api.get(`configuration-versions/${version.id}`)).body.data;
    expect(read.attributes).toMatchObject({ status: 'uploaded', 'upload-url': null });
    expect(read.attributes['status-timestamps']['uploaded-at']).toMatch(/Z$/);
  });

  it.each([
    ['empty', '', 'is empty'],
    ['not gzip', 'terraform {}', 'not a gzip file'],
    ['one byte', '\x1f', 'not a gzip file'],
  ])('is errored with a reason when the upload is %s', async (_, content, reason) => {
    const workspace = await api.workspace();
    const version = await create(workspace.id);
    await putObject(`uploads/${version.id}.tar.gz`, content);
    const { attributes } = (await api.get(`configuration-versions/${version.id}`)).body.data;
    expect(attributes.status).toBe('errored');
    expect(attributes['error-message']).toContain(reason);
    expect(await runsOf(workspace.id)).toEqual([]);
  });

  it('is downloaded through a redirect, once it is uploaded', async () => {
    const workspace = await api.workspace();
    const version = await create(workspace.id, { 'auto-queue-runs': false });
    const download = `configuration-versions/${version.id}/download`;
    expect((await api.get(download)).status).toBe(404);
    await putObject(`uploads/${version.id}.tar.gz`, gzipHead);
    await api.get(`configuration-versions/${version.id}`);
    const answer = await api.get(download);
    expect(answer.status).toBe(302);
    const content = await (await fetch(answer.headers.location as string)).arrayBuffer();
    expect(Buffer.from(content).equals(gzipHead)).toBe(true);
  });

  it('is found by its run', async () => {
    const workspace = await api.workspace();
    const version = await api.configuration(workspace.id);
    const run = await api.post('runs', {}, { workspace: { data: { type: 'workspaces', id: workspace.id } } });
    const path = `runs/${run.body.data.id}/configuration-version`;
    expect((await api.get(path)).body.data.id).toBe(version.id);
    const download = await api.get(`${path}/download`);
    expect([download.status, download.headers.location]).toEqual([302, expect.stringContaining(version.id)]);
  });

  it('can be archived, unless a run waits for it', async () => {
    const { id } = await api.workspace();
    const pending = await create(id);
    expect((await api.call('POST', `configuration-versions/${pending.id}/actions/archive`)).status).toBe(409);
    const version = await api.configuration(id);
    await api.configuration(id);
    expect((await api.call('POST', `configuration-versions/${version.id}/actions/archive`)).status).toBe(202);
    expect((await api.get(`configuration-versions/${version.id}`)).body.data.attributes.status).toBe('archived');
    const { body } = await api.get(`workspaces/${id}/configuration-versions?page[size]=1`);
    expect(body.meta.pagination['total-count']).toBe(3);
  });
});
