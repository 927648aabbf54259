import { createGzip, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { client, newWorkspace, platform } from '#test/e2e/support/world.ts';

/** A small archive with large content tries to keep the API busy. */

const zeros = Buffer.alloc(1024 * 1024);

/** One file of the given number of MiB of zeros before a README. */
const bomb = async (mebibytes: number): Promise<Buffer> => {
  const tar = pack();
  const zipped = tar.pipe(createGzip({ level: 1 }));
  const parts: Buffer[] = [];
  zipped.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise((resolve) => zipped.on('end', resolve));
  await new Promise<void>((resolve, reject) => {
    const entry = tar.entry({ name: 'a.bin', size: mebibytes * zeros.length }, (error) =>
      error ? reject(error) : resolve(),
    );
    for (let n = 0; n < mebibytes; n++) entry.write(zeros);
    entry.end(undefined);
  });
  tar.entry({ name: 'readme.md' }, 'found');
  tar.finalize();
  await ended;
  return Buffer.concat(parts);
};

const readmes = async (workspaceId: string) => {
  const answer = await client.call('GET', `/workspaces/${workspaceId}?include=readme`);
  return (answer.included ?? []).map(({ attributes }) => attributes['raw-markdown']);
};

it('the API unpacks a bounded part of an archive for its README, once', async () => {
  const archive = await bomb(200);
  expect(archive.length).toBeLessThan(2 * 1024 * 1024);
  const workspace = await newWorkspace();
  await client.upload(workspace.id, archive);
  const begin = performance.now();
  expect(await readmes(workspace.id)).toEqual([]);
  // It took 29 s for a gigabyte. The limit is generous, because CI machines are shared.
  expect(performance.now() - begin).toBeLessThan(10_000);
  const second = performance.now();
  for (let n = 0; n < 10; n++) expect(await readmes(workspace.id)).toEqual([]);
  expect((performance.now() - second) / 10).toBeLessThan(1000);
});

it('the API stores a README and returns it again', async () => {
  const workspace = await newWorkspace();
  await client.upload(workspace.id, await packFiles({ 'main.tf': '', 'README.md': '# Here' }));
  expect(await readmes(workspace.id)).toEqual(['# Here']);
  expect(await readmes(workspace.id)).toEqual(['# Here']);
});

it('the API skips an entry name of several megabytes quickly', async () => {
  const name = './'.repeat(4 * 1024 * 1024);
  const record = ` path=${name}x\n`;
  const length = record.length + String(record.length + 8).length;
  const body = Buffer.from(`${length}${record}`);
  const header = (type: string, size: number): Buffer => {
    const block = Buffer.alloc(512);
    block.write('a', 0);
    block.write('0000644\0', 100);
    block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
    block.write('ustar\x0000', 257);
    block.write(type, 156);
    block.fill(' ', 148, 156);
    const sum = block.reduce((all, byte) => all + byte, 0);
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return block;
  };
  const padding = Buffer.alloc((512 - (body.length % 512)) % 512);
  const tar = Buffer.concat([header('x', body.length), body, padding, header('0', 0), Buffer.alloc(1024)]);
  const workspace = await newWorkspace();
  await client.upload(workspace.id, gzipSync(tar));
  const begin = performance.now();
  expect(await readmes(workspace.id)).toEqual([]);
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect((await fetch(`${platform.url}/api/v2/ping`)).status).toBe(204);
});
