import { expect, it } from 'vitest';
import { operate } from '#test/e2e/support/operator.ts';
import { until } from '#test/e2e/support/waiting.ts';
import { client, newWorkspace, platform, startRun, untilFinal } from '#test/e2e/support/world.ts';
import { stateFile } from '#test/support/state.ts';
import { announce, capabilitiesIn, download, jsonUrl, lock, outsiderWith, put, stateUrl } from './uploads.ts';

/** The attacker tries to replace another user's state, or a finalized one, without notice. */

const outputs = (value: string) => ({ who: { value, type: 'string' } });
const good = stateFile({ serial: 1, outputs: outputs('owner') });
const evil = stateFile({ serial: 1, outputs: outputs('attacker') });
const owner = { token: platform.token };
const finalized = (id: string) =>
  until(
    () => client.get(`/state-versions/${id}`),
    ({ attributes }) => attributes.status === 'finalized',
    30_000,
  );

it('the upload URL of a pending state is visible only to its writer', async () => {
  const workspace = await newWorkspace();
  await lock(client, workspace);
  const version = await announce(client, workspace, good);
  expect(capabilitiesIn(version)).toHaveLength(2);
  for (const access of ['read', 'plan', 'write'] as const) {
    const outsider = await outsiderWith(workspace, access);
    for (const path of [
      `/state-versions/${version.id}`,
      `/workspaces/${workspace.id}/current-state-version?include=outputs`,
      `/workspaces/${workspace.id}?include=current_state_version`,
    ]) {
      const shown = await outsider.client.call('GET', path).catch(({ status }) => status);
      expect(capabilitiesIn(shown), `${access} ${path}`).toEqual([]);
    }
  }
  expect(capabilitiesIn(await client.get(`/state-versions/${version.id}`))).toHaveLength(2);
});

it('uploads to the URL of a finalized state have no effect', async () => {
  const workspace = await newWorkspace();
  await lock(client, workspace);
  const version = await announce(client, workspace, good);
  expect(await put(stateUrl(version) as string, good.text)).toBe(200);
  expect(await put(jsonUrl(version) as string, '{"format_version":"1.0"}')).toBe(200);
  // The event of the upload makes it current, before a request reads it.
  await until(
    () => client.get(`/workspaces/${workspace.id}`),
    ({ relationships }) => JSON.stringify(relationships?.['current-state-version']).includes(version.id),
    30_000,
  );
  expect(capabilitiesIn(await finalized(version.id))).toEqual([]);
  const path = `/state-versions/${version.id}`;
  expect(await download(owner, `${path}/json-download`)).toBe('{"format_version":"1.0"}');

  await put(stateUrl(version) as string, evil.text);
  await put(jsonUrl(version) as string, '{"format_version":"6.6.6"}');
  expect(await download(owner, `${path}/download`)).toBe(good.text);
  expect(await download(owner, `${path}/json-download`)).toBe('{"format_version":"1.0"}');
  const [output] = await client.list(`/workspaces/${workspace.id}/current-state-version-outputs`);
  expect(output?.attributes.value).toBe('owner');

  // A run gets the right state, too.
  await client.call('POST', `/workspaces/${workspace.id}/actions/unlock`);
  const configuration = 'output "who" { value = "run" }';
  const run = await untilFinal(await startRun(workspace, { 'main.tf': configuration }, { 'auto-apply': true }));
  expect(run.attributes.status).toBe('applied');
  // A rollback uses the right state, too.
  await lock(client, workspace);
  const rolledBack = await client.call('PATCH', `/workspaces/${workspace.id}/state-versions`, {
    data: {
      type: 'state-versions',
      relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: version.id } } },
    },
  });
  expect(JSON.parse(await download(owner, `/state-versions/${rolledBack.data.id}/download`)).outputs.who.value).toBe(
    'owner',
  );
});

it('content that differs from the announced checksum is rejected', async () => {
  const workspace = await newWorkspace();
  await lock(client, workspace);
  const version = await announce(client, workspace, good);
  await put(stateUrl(version) as string, evil.text);
  const refused = await until(
    () => client.get(`/state-versions/${version.id}`),
    ({ attributes }) => attributes.status !== 'pending',
    30_000,
  );
  expect(refused.attributes).toMatchObject({ status: 'discarded', 'error-message': expect.stringMatching(/MD5/) });
  await put(stateUrl(version) as string, good.text);
  expect((await client.get(`/state-versions/${version.id}`)).attributes.status).toBe('discarded');
});

// This test writes to the bucket directly, which only the operator can do; on AWS, no role of the platform allows it
// here.
it.runIf(platform.awsEndpointUrl)('stored content that differs from the recorded checksum is rejected', async () => {
  operate(platform);
  const { putObject } = await import('#platform/store/bucket.ts');
  const { objects } = await import('#platform/store/keys.ts');
  const workspace = await newWorkspace();
  await lock(client, workspace);
  const version = await announce(client, workspace, good);
  await put(stateUrl(version) as string, good.text);
  const { sha256 } = (await finalized(version.id)).attributes;
  await putObject(objects.state(workspace.id, version.id, sha256), evil.text);
  expect(await download(owner, `/state-versions/${version.id}/download`)).toBe('409');
  await expect(
    client.call('PATCH', `/workspaces/${workspace.id}/state-versions`, {
      data: {
        type: 'state-versions',
        relationships: { 'rollback-state-version': { data: { type: 'state-versions', id: version.id } } },
      },
    }),
  ).rejects.toMatchObject({ status: 409 });
  await client.call('POST', `/workspaces/${workspace.id}/actions/unlock`);
  const run = await untilFinal(await startRun(workspace, { 'main.tf': 'output "who" { value = "run" }' }));
  expect(run.attributes.status).toBe('errored');
});
