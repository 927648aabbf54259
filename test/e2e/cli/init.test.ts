import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { exit } from '#clients/cli/exit.ts';
import { resource, stateFile } from '#test/support/state.ts';
import { example, Terraform, workspaceNamed } from '../support/terraform.ts';
import { client, newName, organization, platform, pushState } from '../support/world.ts';

const command = fileURLToPath(new URL('../../../functions/clients/cli/stepform.mjs', import.meta.url));

interface Ended {
  code: number;
  out: string;
  err: string;
}

/** `stepform init` in the folder, with the settings and credentials of its user only. */
const init = (here: Terraform, words: string[], more: Record<string, string> = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const env = {
      PATH: process.env.PATH,
      HOME: join(here.directory, 'home'),
      CHECKPOINT_DISABLE: '1',
      TFE_ADDRESS: platform.url,
      TFE_TOKEN: platform.token,
      TF_CLOUD_ORGANIZATION: organization,
      TF_CLI_CONFIG_FILE: '',
      ...more,
    };
    execFile(process.execPath, [command, 'init', ...words], { cwd: here.directory, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });

const applied = async (files: Record<string, string> = { 'main.tf': example }): Promise<Terraform> => {
  const here = new Terraform({ files, token: null });
  await here.succeed('init');
  await here.succeed('apply -auto-approve');
  return here;
};

describe.concurrent('stepform init', () => {
  it('moves the state of a folder to a new workspace, and its first run finds no changes', async () => {
    const here = await applied();
    const name = newName('init');
    const refused = await init(here, ['--workspace', name]);
    expect(refused).toMatchObject({ code: exit.usage, err: expect.stringContaining('the state of 2 resources') });
    expect(readdirSync(here.directory)).not.toContain('cloud.tf');

    const { code, out, err } = await init(here, ['--workspace', name, '--yes']);
    expect({ code, err: code ? err : '' }).toEqual({ code: 0, err: '' });
    expect(err).toContain('State moved');
    expect(out).toContain('Planned and Finished');
    const { attributes } = await workspaceNamed(name);
    expect(attributes).toMatchObject({ locked: false, 'resource-count': 2, 'terraform-version': '1.11.4' });
    expect(await here.succeed('plan')).toContain('No changes.');
  });

  it('starts the first run of a folder without a state, which waits for a confirmation', async () => {
    const name = newName('init');
    const here = new Terraform({ files: { 'main.tf': example }, token: null });
    const { code, out } = await init(here, ['-w', name, '-o', organization, '--yes']);
    expect({ code, out }).toMatchObject({ code: exit.needsPerson, out: expect.stringContaining('2 to add') });
  });

  it.skipIf(!platform.awsEndpointUrl)('moves a state from S3 once its backend block is removed', async () => {
    const { awsEndpointUrl, awsCredentials, bucketName } = platform as Required<typeof platform>;
    const name = newName('init');
    const env = {
      AWS_ACCESS_KEY_ID: awsCredentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: awsCredentials.secretAccessKey,
      AWS_ENDPOINT_URL_S3: awsEndpointUrl,
    };
    const backend = `terraform {
  backend "s3" {
    bucket                      = "${bucketName}"
    key                         = "${name}/terraform.tfstate"
    region                      = "us-east-1"
    use_path_style              = true
    skip_credentials_validation = true
    skip_requesting_account_id  = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
  }
}
`;
    const here = new Terraform({ files: { 'main.tf': example, 'backend.tf': backend }, token: null, env });
    await here.succeed('init');
    await here.succeed('apply -auto-approve');
    const refused = await init(here, ['-w', name, '--yes'], env);
    expect(refused).toMatchObject({
      code: exit.usage,
      err: expect.stringContaining('backend.tf, line 2: backend "s3"'),
    });
    here.remove('backend.tf');
    const { code, out, err } = await init(here, ['-w', name, '--yes'], env);
    expect({ code, err: code ? err : '' }).toEqual({ code: 0, err: '' });
    expect(out).toContain('Planned and Finished');
    expect((await workspaceNamed(name)).attributes).toMatchObject({ 'resource-count': 2 });
  });

  it('touches neither of two states', async () => {
    const name = newName('init');
    const workspace = await client.createWorkspace(organization, name);
    await pushState(workspace, stateFile({ resources: [resource('terraform_data', 'other')] }));
    const here = await applied();
    const state = here.read('terraform.tfstate');
    const { code, err } = await init(here, ['-w', name, '--yes']);
    expect({ code, err }).toMatchObject({ code: exit.notNow, err: expect.stringContaining('and so has this folder') });
    expect(here.read('terraform.tfstate')).toBe(state);
    expect(readdirSync(here.directory)).not.toContain('cloud.tf');
    expect(await client.list(`/workspaces/${workspace.id}/runs`)).toEqual([]);
  });

  it('leaves the folder as it was when terraform init fails', async () => {
    const here = await applied();
    const state = here.read('terraform.tfstate');
    const workspace = await client.createWorkspace(organization, newName('init'));
    await client.call('POST', `/workspaces/${workspace.id}/actions/lock`, { reason: 'maintenance' });
    const { code, err } = await init(here, ['-w', workspace.attributes.name, '--yes']);
    expect({ code, err }).toMatchObject({ code: exit.failed, err: expect.stringContaining('state is where it was') });
    expect(here.read('terraform.tfstate')).toBe(state);
    expect(readdirSync(here.directory)).not.toContain('cloud.tf');
  });

  it('continues after terraform init has moved the state and then failed', async () => {
    const here = await applied();
    const name = newName('init');
    here.write('broken.tf', 'module "missing" {\n  source = "./missing"\n}\n');
    const { code, err } = await init(here, ['-w', name, '--yes']);
    expect({ code, err }).toMatchObject({
      code: exit.failed,
      err: expect.stringContaining('belongs to the workspace'),
    });
    here.remove('broken.tf');
    expect(await init(here, ['--yes'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Planned and Finished'),
    });
    expect((await workspaceNamed(name)).attributes).toMatchObject({ 'resource-count': 2 });
  });

  it.each([
    [
      'another backend',
      { 'b.tf': 'terraform {\n  backend "s3" {\n  }\n}\n' },
      'b.tf, line 2: backend "s3" has not been initialized',
    ],
    [
      'the block of another workspace',
      { 'c.tf': 'terraform {\n  cloud {\n    workspaces {\n      name = "a"\n    }\n  }\n}\n' },
      'c.tf, line 2: the cloud block names workspace a',
    ],
    ['a block with tags', { 'c.tf': 'terraform {\n  cloud {\n  }\n}\n' }, 'the cloud block names no workspace'],
    ['several states', { 'terraform.tfstate.d/test/terraform.tfstate': '{}' }, 'several Terraform workspaces (test)'],
    ['a state that it cannot read', { 'terraform.tfstate': 'encrypted' }, 'not a state'],
    ['a cloud.tf of another kind', { 'cloud.tf': '# clouds' }, 'cloud.tf exists'],
    ['no configuration', { 'main.tf': undefined }, 'No Terraform files'],
  ])('refuses a folder with %s by name', async (_, files, message) => {
    const here = new Terraform({ files: { 'main.tf': example }, token: null });
    for (const [name, content] of Object.entries(files))
      content === undefined ? here.remove(name) : here.write(name, content);
    const { code, err } = await init(here, ['-w', newName('init'), '--yes']);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});
