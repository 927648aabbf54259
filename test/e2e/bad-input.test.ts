import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { client, newWorkspace, readLog, resources, startRun, untilFinal, untilUnlocked } from './support/world.ts';

const tar = async (entries: { name: string; type?: 'symlink' | 'link'; linkname?: string; content?: Buffer }[]) => {
  const archive = pack();
  for (const { name, type, linkname, content } of entries) {
    if (type) archive.entry({ name, type, linkname: linkname as string });
    else archive.entry({ name }, content ?? Buffer.from('x'));
  }
  archive.finalize();
  const parts: Buffer[] = [];
  for await (const part of archive) parts.push(part as Buffer);
  return gzipSync(Buffer.concat(parts));
};

/** The 512 bytes before a file's content (POSIX ustar). */
const tarHeader = (name: string, size: number): Buffer => {
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(size, 12), 124);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(' '.repeat(8), 148);
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      8,
    ),
    148,
  );
  return header;
};

/** A file of 1.1 GB in 18 KB: a gzip file can have many members, so one member of zeros is repeated. */
const bomb = (): Buffer => {
  const size = 1100 * 1024 * 1024;
  const header = gzipSync(tarHeader('zeros', size));
  const zeros = gzipSync(Buffer.alloc(20 * 1024 * 1024));
  return Buffer.concat([header, ...Array.from({ length: 55 }, () => zeros)]);
};

describe('a configuration archive', () => {
  it.each([
    ['that is not gzip', async () => Buffer.from('this is no archive'), /gzip/i],
    ['that is empty', async () => Buffer.alloc(0), /empty/i],
  ])('%s is rejected on arrival, and starts no run', async (_, archive, why) => {
    const workspace = await newWorkspace();
    const version = await client.upload(workspace.id, await archive());
    expect(version.attributes).toMatchObject({ status: 'errored', 'error-message': expect.stringMatching(why) });
    await expect(client.createRun(workspace.id, {}, version.id)).rejects.toMatchObject({ status: 422 });
  });

  it.each([
    ['escapes its directory', () => tar([{ name: '../escaped.tf' }]), /escaped\.tf/],
    ['has an absolute path', () => tar([{ name: '/tmp/escaped.tf' }]), /escaped\.tf/],
    ['links out of its directory', () => tar([{ name: 'link', type: 'symlink', linkname: '../../etc' }]), /link/],
    ['is a bomb', async () => bomb(), /unpacks to more than/],
    [
      'is cut off',
      async () => (await packFiles({ 'main.tf': resources(['a']).repeat(2000) })).subarray(0, 600),
      /cut|end|corrupt|incomplete|truncated/i,
    ],
  ])('that %s errors the run with the reason', async (_, archive, why) => {
    const workspace = await newWorkspace();
    const version = await client.upload(workspace.id, await archive());
    const run = await untilFinal(await client.createRun(workspace.id, {}, version.id));
    expect(run.attributes.status).toBe('errored');
    expect(await readLog(run, 'plan')).toMatch(why);
    await untilUnlocked(workspace);
  });
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
