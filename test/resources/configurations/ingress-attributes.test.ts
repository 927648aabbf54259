import { expect, it } from 'vitest';
import { detailOf, startApi } from '#test/support/api.ts';
import { ids, on, runHelpers } from '#test/support/runs.ts';

/** Commit of a configuration: sent with the upload, included with its runs. */

const api = await startApi();
const help = await runHelpers(api);

const commit = {
  'commit-sha': 'ABCDEF0123456789abcdef0123456789abcdef01',
  'commit-message': 'More <b>memory</b>',
  'commit-url': 'https://github.com/acme/network/commit/abcdef0',
  branch: 'main',
  identifier: 'acme/network',
};

it('ingress attributes are included with the configuration, its runs and its workspace', async () => {
  const { id } = await api.workspace();
  const version = await api.configuration(id, { 'auto-queue-runs': false, 'ingress-attributes': commit });
  const with_ = { ...commit, 'commit-sha': commit['commit-sha'].toLowerCase(), 'sender-username': null };
  const read = (await api.get(`configuration-versions/${version.id}/ingress-attributes`)).body.data;
  expect(read).toMatchObject({ type: 'ingress-attributes', attributes: with_ });
  expect(version.relationships['ingress-attributes'].data).toEqual({ type: 'ingress-attributes', id: read.id });
  const run = (await api.post('runs', {}, on(id, version.id))).body.data;
  const other = await help.create((await help.ready()).id);
  for (const path of [
    `configuration-versions/${version.id}?include=ingress_attributes`,
    `workspaces/${id}/configuration-versions?include=ingress_attributes`,
    `runs/${run.id}?include=configuration_version.ingress_attributes`,
    `workspaces/${id}/runs?include=configuration_version.ingress_attributes`,
    `workspaces/${id}?include=current_configuration_version,current_configuration_version.ingress_attributes`,
  ]) {
    expect((await api.get(path)).body.included, path).toContainEqual(expect.objectContaining({ id: read.id }));
  }
  const none = await api.get(`runs/${other.id}?include=configuration_version.ingress_attributes`);
  expect(none.body.included).toEqual([]);
  const search = async (sha: string) => ids((await api.get(`workspaces/${id}/runs?search[commit]=${sha}`)).body.data);
  expect([await search('abcdef0'), await search('fedcba')]).toEqual([[run.id], []]);
});

it('ingress attributes are absent when they were not sent', async () => {
  const { version } = await help.ready();
  const answer = await api.get(`configuration-versions/${version}/ingress-attributes`);
  expect(detailOf(answer)).toEqual([404, expect.stringContaining('no ingress attributes')]);
});

it.each([
  ['commit-sha', 'not-a-hash', /7 to 64 hexadecimal/],
  ['commit-url', 'javascript:alert(1)', /https/],
  ['branch', 'x'.repeat(300), /at most 255/],
])('ingress attributes are rejected with a wrong %s', async (field, value, words) => {
  const { id } = await api.workspace();
  const answer = await api.post(`workspaces/${id}/configuration-versions`, {
    'ingress-attributes': { ...commit, [field]: value },
  });
  const [error] = answer.body.errors;
  expect([answer.status, error.source.pointer]).toEqual([422, `/data/attributes/ingress-attributes/${field}`]);
  expect(error.detail).toMatch(words);
});
