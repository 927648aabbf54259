import { createHash } from 'node:crypto';
import { createMessage, generateKey, sign } from 'openpgp';
import { beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { zip } from '#test/runner/program/zip.ts';
import { host, Terraform } from '../support/terraform.ts';
import { client, newName, newWorkspace, organization, readLog, startRun, untilFinal } from '../support/world.ts';

/** The real terraform installs modules and providers that the organization published. */

const put = async (url: string, body: Uint8Array): Promise<void> => {
  const { status } = await fetch(url, { method: 'PUT', body: body as unknown as BodyInit });
  expect(status).toBe(200);
};

const modules = `/organizations/${organization}/registry-modules`;

const publish = async (name: string, version: string): Promise<void> => {
  const path = `${modules}/private/${organization}/${name}/aws/versions`;
  const moduleVersion = await client.create(path, 'registry-module-versions', { version });
  const files = {
    'main.tf': `output "version" {\n  value = "${version}"\n}\n`,
    'modules/part/main.tf': `output "part" {\n  value = "part of ${version}"\n}\n`,
  };
  await put(moduleVersion.links?.upload ?? '', await packFiles(files));
};

describe('a module of the registry', () => {
  const name = newName('module');
  // Terraform rejects module hosts without a dot, such as localhost.
  const source = `localterraform.com/${organization}/${name}/aws`;
  const configuration = `module "whole" {
  source  = "${source}"
  version = "~> 1.0"
}
module "part" {
  source  = "${source}//modules/part"
  version = "1.0.0"
}
output "versions" {
  value = "\${module.whole.version}, \${module.part.part}"
}
`;
  beforeAll(async () => {
    await client.create(modules, 'registry-modules', { name, provider: 'aws', 'registry-name': 'private' });
    for (const version of ['1.0.0', '1.1.0', '2.0.0-beta1']) await publish(name, version);
  });

  it('is installed by terraform init, in the newest matching version', async () => {
    const here = new Terraform({ files: { 'main.tf': configuration } });
    expect(await here.succeed('init -input=false')).toMatch(/Downloading .* 1\.1\.0 for whole/);
    await here.succeed('apply -auto-approve');
    expect(await here.succeed('output -raw versions')).toBe('1.1.0, part of 1.0.0');
  });

  it('is not shown without a valid token', async () => {
    const here = new Terraform({ files: { 'main.tf': configuration }, token: 'wrong' });
    expect(await here.fail('init -input=false')).toMatch(/401 Unauthorized/);
  });

  it('is installed in a run without extra credentials', async () => {
    const run = await startRun(await newWorkspace({ 'auto-apply': true }), { 'main.tf': configuration });
    const ended = await untilFinal(run);
    expect({ status: ended.attributes.status, log: await readLog(run, 'plan') }).toMatchObject({ status: 'applied' });
    expect(await readLog(run, 'apply')).toContain('1.1.0, part of 1.0.0');
  });
});

describe('a provider of the registry', () => {
  const name = newName('thing')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 40);
  const [os, arch] = [process.platform === 'darwin' ? 'darwin' : 'linux', process.arch === 'arm64' ? 'arm64' : 'amd64'];
  const filename = `terraform-provider-${name}_1.0.0_${os}_${arch}.zip`;
  // Terraform verifies and unpacks it; the test does not run it.
  const archive = zip(`terraform-provider-${name}_v1.0.0`, Buffer.from('#!/bin/sh\nexit 1\n'), 0o755);
  const shasum = createHash('sha256').update(archive).digest('hex');
  const providers = `/organizations/${organization}/registry-providers`;
  const configuration = `terraform {
  required_providers {
    thing = {
      source  = "${host}/${organization}/${name}"
      version = "1.0.0"
    }
  }
}
`;

  const publishSigned = async (version: string, sums: string, signed: string): Promise<void> => {
    const userIDs = [{ name: 'Acme' }];
    const pair = await generateKey({ type: 'rsa', rsaBits: 2048, userIDs, format: 'object' });
    const key = await client.create('/../registry/private/v2/gpg-keys', 'gpg-keys', {
      namespace: organization,
      'ascii-armor': pair.publicKey.armor(),
    });
    const versions = `${providers}/private/${organization}/${name}/versions`;
    const values = { version, 'key-id': key.attributes['key-id'], protocols: ['5.0'] };
    const providerVersion = await client.create(versions, 'registry-provider-versions', values);
    const message = await createMessage({ text: signed });
    const signature = await sign({ message, signingKeys: pair.privateKey, detached: true, format: 'binary' });
    await put(providerVersion.links?.['shasums-upload'] ?? '', Buffer.from(sums));
    await put(providerVersion.links?.['shasums-sig-upload'] ?? '', signature);
    const platform = { os, arch, filename, shasum };
    const added = await client.create(`${versions}/${version}/platforms`, 'registry-provider-platforms', platform);
    await put(added.links?.['provider-binary-upload'] ?? '', archive);
  };

  beforeAll(async () => {
    const address = { name, namespace: organization, 'registry-name': 'private' };
    await client.create(providers, 'registry-providers', address);
    const sums = `${shasum}  ${filename}\n`;
    await publishSigned('1.0.0', sums, sums);
    await publishSigned('2.0.0', sums, `${sums}# signed something else\n`);
  });

  it('is installed by terraform init, its signature checked', async () => {
    const here = new Terraform({ files: { 'main.tf': configuration } });
    const text = await here.succeed('init -input=false');
    expect(text).toMatch(new RegExp(`Installed .*${name} v1.0.0 \\(self-signed, key ID [0-9A-F]{16}\\)`));
    expect(here.read('.terraform.lock.hcl')).toContain(`zh:${shasum}`);
  });

  it('is rejected by terraform init when the signature does not match', async () => {
    const here = new Terraform({ files: { 'main.tf': configuration.replace('1.0.0', '2.0.0') } });
    expect(await here.fail('init -input=false')).toMatch(/signature/);
  });
});
