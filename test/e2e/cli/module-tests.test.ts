import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { newSharedFolder } from '../support/shared-folder.ts';
import { Terraform } from '../support/terraform.ts';
import { until } from '../support/waiting.ts';
import { client, newName, organization, platform, type Resource } from '../support/world.ts';

/** `terraform test -cloud-run` of the real command line. */

const name = newName('tested');
const modules = `/organizations/${organization}/registry-modules`;
const base = `/organizations/${organization}/tests/registry-modules/private/${organization}/${name}/aws`;
// Terraform rejects module hosts without a dot, such as localhost.
const cloudRun = `-cloud-run=localterraform.com/${organization}/${name}/aws`;

const folder = newSharedFolder('module-tests-');
const file = (of: string): string => join(folder, of);

const main = `
variable "size" {
  type    = number
  default = 1
}
variable "secret" {
  type    = string
  default = ""
}
variable "file" {
  type    = string
  default = ""
}
variable "wait" {
  type    = number
  default = 0
}
resource "terraform_data" "a" {
  input = var.size
}
resource "terraform_data" "file" {
  count = var.file == "" ? 0 : 1
  input = var.file
  provisioner "local-exec" {
    command = "touch \${self.input}"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "rm \${self.input}"
  }
}
resource "terraform_data" "slow" {
  count      = var.wait > 0 ? 1 : 0
  depends_on = [terraform_data.file]
  provisioner "local-exec" {
    command = "sleep \${var.wait}"
  }
}
output "size" {
  value = terraform_data.a.output
}
output "secret" {
  value = "the secret is \${var.secret}"
}
`;

const assertion = (condition: string) => `run "size" {
  assert {
    condition     = ${condition}
    error_message = "size is \${output.size}, secret is \${output.secret}"
  }
}
`;

const runner = (tests: Record<string, string>): Terraform => {
  const here = new Terraform();
  mkdirSync(join(here.directory, 'tests'));
  here.write('main.tf', main);
  for (const [of, content] of Object.entries(tests)) here.write(`tests/${of}.tftest.hcl`, content);
  return here;
};

const newest = async (): Promise<Resource> => (await client.list(`${base}/test-runs`))[0] as Resource;
const ended = (): Promise<Resource> =>
  until(newest, ({ attributes }) => !['queued', 'running'].includes(attributes.status));

beforeAll(async () => {
  await client.create(modules, 'registry-modules', { name, provider: 'aws', 'registry-name': 'private' });
});

describe('terraform test -cloud-run', () => {
  it('is rejected with the remedy until tests of the module are enabled', async () => {
    const here = runner({ a: assertion('output.size == 1') });
    await here.succeed('init -input=false');
    expect(await here.fail(['test', cloudRun])).toContain('test-config.tests-enabled');
    const path = `${modules}/private/${organization}/${name}/aws`;
    const change = { data: { type: 'registry-modules', attributes: { 'test-config': { 'tests-enabled': true } } } };
    await client.call('PATCH', path, change);
    expect((await client.get(path)).attributes['test-config']).toMatchObject({ 'tests-enabled': true });
  });

  it('passes with variables of the run and environment variables of the module, hiding sensitive ones', async () => {
    const secret = 'very-secret-value';
    await client.create(`${base}/vars`, 'vars', {
      key: 'TF_VAR_secret',
      value: secret,
      category: 'env',
      sensitive: true,
    });
    const shown = await client.list(`${base}/vars`);
    expect(JSON.stringify(shown)).not.toContain(secret);
    const here = runner({
      a: assertion('output.size == 3 && length(output.secret) == 31'),
      b: assertion('output.size == 4'),
    });
    await here.succeed('init -input=false');
    const text = await here.succeed(['test', cloudRun, '-var', 'size=3', '-filter=tests/a.tftest.hcl']);
    expect(text).toContain('Success! 1 passed, 0 failed.');
    expect(await ended()).toMatchObject({
      attributes: {
        status: 'finished',
        'test-status': 'pass',
        'tests-passed': 1,
        filters: ['tests/a.tftest.hcl'],
        variables: [{ key: 'size', value: '"3"' }],
        'remaining-resources': [],
      },
    });

    const failing = runner({ a: assertion('output.size == 4') });
    await failing.succeed('init -input=false');
    const failure = await failing.fail(['test', cloudRun]);
    expect(failure).toContain('Failure! 0 passed, 1 failed.');
    expect(failure).toContain('size is 1');
    expect(failure).not.toContain(secret);
    expect((await ended()).attributes).toMatchObject({ status: 'finished', 'test-status': 'fail', 'tests-failed': 1 });
  });

  it('ends with an error of a test or the configuration, and skips the rest', async () => {
    const error = `run "first" {\n  variables {\n    size = "much"\n  }\n}\n${assertion('output.size == 1')}`;
    const here = runner({ a: error });
    await here.succeed('init -input=false');
    expect(await here.fail(['test', cloudRun])).toContain('0 passed, 1 failed, 1 skipped');
    const { attributes } = await ended();
    expect(attributes).toMatchObject({ 'test-status': 'error', 'tests-errored': 1, 'tests-skipped': 1 });

    const version = await client.create(`${base}/test-runs/configuration-versions`, 'configuration-versions', {});
    const archive = await packFiles({ 'main.tf': 'module "missing" {\n  source = "./nowhere"\n}\n' });
    const body = archive as unknown as BodyInit;
    expect((await fetch(version.attributes['upload-url'], { method: 'PUT', body })).status).toBe(200);
    const relationships = {
      'configuration-version': { data: { type: 'configuration-versions', id: version.id } },
    };
    await client.call('POST', `${base}/test-runs`, { data: { type: 'test-runs', attributes: {}, relationships } });
    const broken = (await ended()).attributes;
    expect(broken).toMatchObject({ status: 'errored', 'test-status': 'error', 'tests-passed': 0 });
    expect(broken['end-reason']).toMatch(/Unreadable module directory/);
  });

  it('destroys what it created when it is interrupted', async () => {
    const kept = file('kept');
    // Terraform finishes the current block, destroys, and skips the rest.
    const after = 'run "after" {\n  variables {\n    wait = 3600\n  }\n}\n';
    const here = runner({ a: assertion('output.size == 1') + after });
    await here.succeed('init -input=false');
    const command = here.start(['test', cloudRun, '-var', `file=${kept}`, '-var', 'wait=10']);
    await until(async () => existsSync(kept), Boolean);
    command.interrupt();
    const { code } = await command.ended;
    expect(code).toBe(1);
    const { attributes } = await ended();
    expect(attributes).toMatchObject({ status: 'canceled', 'tests-skipped': 1, 'remaining-resources': [] });
    expect(attributes['status-timestamps']['canceled-at']).toMatch(/Z$/);
    expect(existsSync(kept)).toBe(false);
  });

  it('is not listed among runs', async () => {
    const [run] = await client.list(`${base}/test-runs`);
    const id = run?.id.replace('trun-', 'run-');
    for (const path of [`/runs/${id}`, `/plans/${id?.replace('run-', 'plan-')}`, `/runs/${id}/run-events`]) {
      await expect(client.get(path)).rejects.toThrow(/not found/i);
    }
    const log = await fetch(run?.attributes['log-read-url']);
    expect(await log.text()).toContain('"type":"test_');
    const headers = { authorization: `Bearer ${platform.token}` };
    const lists = await fetch(`${platform.url}/api/v2/organizations/${organization}/runs`, { headers });
    expect(await lists.text()).not.toContain(id);
  });
});
