import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { afterAll, describe, expect, it } from 'vitest';
import { gzip, isConfigurationFile, tar } from '#clients/web/text/tar.ts';

const entries = [
  { path: 'main.tf', content: 'resource "terraform_data" "a" {}\n' },
  { path: `modules/${'long-'.repeat(30)}/main.tf`, content: 'x'.repeat(1000) },
  { path: 'templates/grüße.txt', content: 'ä' },
  { path: 'empty.txt', content: '' },
].map(({ path, content }) => ({ path, content, bytes: new TextEncoder().encode(content) }));

const folder = await mkdtemp(join(tmpdir(), 'stepform-tar-'));
afterAll(() => rm(folder, { recursive: true }));

describe('an archive made in the browser', () => {
  it('is read completely, with long and non-ASCII names', async () => {
    const contents: Record<string, string> = {};
    const archive = Buffer.from(await (await gzip(tar(entries))).arrayBuffer());
    const reader = extract();
    reader.on('entry', async (header, stream, next) => {
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      contents[header.name] = Buffer.concat(parts).toString();
      next();
    });
    await pipeline(Readable.from([archive]), createGunzip(), reader);
    expect(contents).toEqual(Object.fromEntries(entries.map(({ path, content }) => [path, content])));
  });

  it('is readable by other programs', async () => {
    const file = join(folder, 'a.tar.gz');
    await writeFile(file, Buffer.from(await (await gzip(tar(entries))).arrayBuffer()));
    execFileSync('tar', ['-xzf', file, '-C', folder]);
    for (const { path, content } of entries) expect(await readFile(join(folder, path), 'utf8')).toBe(content);
  });

  it('excludes the same files as the command line, and states', () => {
    expect(isConfigurationFile('main.tf')).toBe(true);
    expect(isConfigurationFile('.terraform.lock.hcl')).toBe(true);
    expect(isConfigurationFile('.terraform/modules/a/main.tf')).toBe(true);
    for (const path of [
      '.git/config',
      'a/.git/x',
      '.terraform/providers/x',
      'terraform.tfstate',
      'a/x.tfstate.backup',
    ]) {
      expect(isConfigurationFile(path), path).toBe(false);
    }
  });
});
