import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { until } from '#test/e2e/support/waiting.ts';
import {
  client,
  inState,
  newName,
  newWorkspace,
  organization,
  platform,
  readLog,
  resources,
  untilConfirmable,
  untilFinal,
} from '#test/e2e/support/world.ts';
import { capabilitiesIn, download, outsiderWith, put } from './uploads.ts';

/** An attacker replaces an uploaded and reviewed configuration before its plan or apply. */

const reviewed = await packFiles({ 'main.tf': resources(['reviewed']) });
const evil = await packFiles({ 'main.tf': resources(['evil']) });

const uploaded = async (workspaceId: string, archive: Uint8Array) => {
  const version = await client.create(`/workspaces/${workspaceId}/configuration-versions`, 'configuration-versions', {
    'auto-queue-runs': false,
  });
  const url = version.attributes['upload-url'] as string;
  expect(await put(url, archive)).toBe(200);
  await until(
    () => client.get(`/configuration-versions/${version.id}`),
    ({ attributes }) => attributes.status === 'uploaded',
    30_000,
  );
  return { version, url };
};

it('plan and apply ignore a later upload to the same URL', async () => {
  const workspace = await newWorkspace();
  const { version, url } = await uploaded(workspace.id, reviewed);
  await put(url, evil);
  const run = await untilConfirmable(await client.createRun(workspace.id, {}, version.id));
  await put(url, evil);
  expect(await readLog(run, 'plan')).toMatch(/terraform_data\.reviewed/);
  await client.act(run.id, 'apply');
  expect((await untilFinal(run)).attributes.status).toBe('applied');
  expect(await inState(workspace)).toEqual(['terraform_data.reviewed']);
  const shown = await fetch(`${platform.url}/api/v2/configuration-versions/${version.id}/download`, {
    headers: { authorization: `Bearer ${platform.token}` },
  });
  expect(Buffer.from(await shown.arrayBuffer()).equals(Buffer.from(reviewed))).toBe(true);
});

it('a configuration version shows its upload URL only in the response to its creation', async () => {
  const workspace = await newWorkspace();
  const path = `/workspaces/${workspace.id}/configuration-versions`;
  const version = await client.create(path, 'configuration-versions', { 'auto-queue-runs': false });
  expect(capabilitiesIn(version)).toHaveLength(1);
  const reader = await outsiderWith(workspace, 'read');
  for (const by of [client, reader.client]) {
    expect(capabilitiesIn(await by.get(`/configuration-versions/${version.id}`))).toEqual([]);
    expect(capabilitiesIn(await by.list(path))).toEqual([]);
  }
});

// This test writes to the bucket directly, which only the operator can do; on AWS, no role of the platform allows it
// here.
it.runIf(platform.awsEndpointUrl)('the runner rejects content that differs from the accepted upload', async () => {
  operate(platform);
  const { putObject } = await import('#platform/store/bucket.ts');
  const { getConfigurationVersion } = await import('#resources/configurations/records.ts');
  const workspace = await newWorkspace();
  const { version } = await uploaded(workspace.id, reviewed);
  const { archive } = (await getConfigurationVersion(version.id)) ?? {};
  await putObject(archive?.key as string, new Uint8Array(evil));
  const run = await untilFinal(await client.createRun(workspace.id, {}, version.id));
  expect(run.attributes.status).toBe('errored');
  expect(await readLog(run, 'plan')).toMatch(
    /The configuration in storage is damaged: its sha256 checksum does not match/,
  );
});

it('a later upload does not change accepted policies', async () => {
  const set = await client.create(`/organizations/${organization}/policy-sets`, 'policy-sets', {
    name: newName('set'),
    kind: 'opa',
  });
  const version = await client.create(`/policy-sets/${set.id}/versions`, 'policy-set-versions', {});
  const [url = ''] = capabilitiesIn(version);
  const hcl = 'policy "p" {\n  query = "data.p.deny"\n  enforcement_level = "mandatory"\n}\n';
  const policy = (message: string) =>
    packFiles({ 'policies.hcl': hcl, 'p.rego': `package p\ndeny contains "${message}"` });
  expect(await put(url, await policy('reviewed'))).toBe(200);
  const ready = await until(
    () => client.get(`/policy-set-versions/${version.id}`),
    ({ attributes }) => attributes.status !== 'pending',
    30_000,
  );
  expect(ready.attributes.status).toBe('ready');
  expect(capabilitiesIn(ready)).toEqual([]);
  await put(url, await packFiles({ 'policies.hcl': '' }));
  const after = await client.get(`/policy-set-versions/${version.id}`);
  expect(after.attributes).toEqual(ready.attributes);
});

it('a download returns the accepted content byte for byte', async () => {
  const workspace = await newWorkspace();
  const { version, url } = await uploaded(workspace.id, reviewed);
  await put(url, evil);
  const reader = await outsiderWith(workspace, 'read');
  expect(await download(reader, `/configuration-versions/${version.id}/download`)).toBe(
    Buffer.from(reviewed).toString('utf8'),
  );
});
