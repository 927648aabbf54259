import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { client, newWorkspace, readLog, resources, startRun, untilFinal, untilUnlocked } from './support/world.ts';

it('a configuration archive that escapes its directory errors the run with the reason', async () => {
  const archive = pack();
  archive.entry({ name: '../escaped.tf' }, 'x');
  archive.finalize();
  const workspace = await newWorkspace();
  const version = await client.upload(workspace.id, gzipSync(await buffer(archive)));
  const run = await untilFinal(await client.createRun(workspace.id, {}, version.id));
  expect(run.attributes.status).toBe('errored');
  expect(await readLog(run, 'plan')).toMatch(/escaped\.tf/);
  await untilUnlocked(workspace);
});

describe('a configuration', () => {
  it.each([
    ['with a syntax error', 'resource "terraform_data" {', /main\.tf/],
    ['with a backend of its own', 'terraform {\n  backend "s3" {\n    bucket = "b"\n  }\n}', /backend "s3"/],
  ])('%s errors the plan with a message', async (_, content, why) => {
    const run = await untilFinal(await startRun(await newWorkspace(), { 'main.tf': content }));
    expect(run.attributes.status).toBe('errored');
    expect(await readLog(run, 'plan')).toMatch(why);
  });

  it('with a cloud block is planned against this workspace', async () => {
    const content =
      `terraform {\n  cloud {\n    organization = "other"\n    workspaces { name = "other" }\n  }\n}\n${resources(['a'])}`.replace(
        '{ name = "other" }',
        '{\n      name = "other"\n    }',
      );
    const run = await untilFinal(await startRun(await newWorkspace({ 'auto-apply': true }), { 'main.tf': content }));
    expect(run.attributes.status).toBe('applied');
  });

  it('whose variable is invalid HCL errors with the variable’s name', async () => {
    const workspace = await newWorkspace();
    await client.setVariable(workspace.id, { key: 'subnets', value: '[1, 2', hcl: true });
    const run = await untilFinal(await startRun(workspace, { 'main.tf': 'variable "subnets" {}\n' }));
    expect(run.attributes.status).toBe('errored');
    expect(await readLog(run, 'plan')).toContain('subnets');
  });

  it('for an unavailable version of Terraform errors the plan without hanging', async () => {
    const workspace = await newWorkspace({ 'terraform-version': '0.0.1' });
    const run = await untilFinal(await startRun(workspace, { 'main.tf': resources(['a']) }));
    expect(run.attributes.status).toBe('errored');
    expect(await readLog(run, 'plan')).toContain('0.0.1');
  });
});
