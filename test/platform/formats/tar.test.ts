import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { pack } from 'tar-stream';
import { afterAll, describe, expect, it } from 'vitest';
import { TarError, tarEntries } from '#platform/formats/tar.ts';

/** Archives of other programs are read; a source comes in pieces of any size. */

const names = {
  short: 'a.rego',
  accents: 'größe/ä.rego',
  prefixed: `${'d'.repeat(90)}/${'e'.repeat(60)}/a.rego`,
  long: `${'f'.repeat(120)}/${'é'.repeat(80)}/${'g'.repeat(200)}.rego`,
};
const contentOf = (name: string): string => `package ${name.slice(-9)}\n`.repeat(name.length);

async function* inPieces(whole: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

const read = async (whole: Buffer, size = 65_536): Promise<Record<string, string | null>> => {
  const contents: Record<string, string | null> = {};
  for await (const { name, isFile, content } of tarEntries(inPieces(whole, size))) {
    contents[name] = isFile ? (await content()).toString() : null;
  }
  return contents;
};

const scratch = await mkdtemp(join(tmpdir(), 'stepform-tar-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));
const archived = async (format: string, files: string[]): Promise<Buffer> => {
  const args = ['-c', `--format=${format}`, '-C', scratch, ...files];
  return (await promisify(execFile)('tar', args, { encoding: 'buffer', env: { ...process.env, LC_ALL: 'C.UTF-8' } }))
    .stdout;
};
for (const name of Object.values(names)) {
  await mkdir(dirname(join(scratch, name)), { recursive: true });
  await writeFile(join(scratch, name), contentOf(name));
}

const expected = (files: string[]) => Object.fromEntries(files.map((name) => [name, contentOf(name)]));

describe('a tar file', () => {
  it.each([
    ['ustar', [names.short, names.accents, names.prefixed]],
    ['gnu', Object.values(names)],
    ['posix', Object.values(names)],
  ])('by tar, format %s, has its files read', async (format, files) => {
    expect(await read(await archived(format, files))).toEqual(expected(files));
  });

  it('is read in pieces of any size', async () => {
    const whole = await archived('posix', Object.values(names));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2000 }), async (size) => {
        expect(await read(whole, size)).toEqual(expected(Object.values(names)));
      }),
      { numRuns: 30 },
    );
  });

  it('returns other entries without content, and skips unread content', async () => {
    const packed = pack();
    packed.entry({ name: 'folder', type: 'directory' });
    packed.entry({ name: 'link', type: 'symlink', linkname: names.long });
    packed.entry({ name: 'skipped' }, 'x'.repeat(5000));
    packed.entry({ name: 'last' }, 'y');
    packed.finalize();
    const whole = await buffer(packed);
    const entries: unknown[] = [];
    for await (const { name, isFile, content } of tarEntries(inPieces(whole, 700))) {
      entries.push([name, isFile, name === 'last' ? (await content()).toString() : undefined]);
    }
    expect(entries).toEqual([
      ['folder', false, undefined],
      ['link', false, undefined],
      ['skipped', true, undefined],
      ['last', true, 'y'],
    ]);
  });

  it('is rejected if truncated in an entry or modified in a header', async () => {
    const whole = await archived('ustar', [names.prefixed]);
    const end = 512 + Math.ceil(Buffer.byteLength(contentOf(names.prefixed)) / 512) * 512;
    for (const at of [1, 511, 512, 513, end - 1]) {
      await expect(read(whole.subarray(0, at)), String(at)).rejects.toThrow(TarError);
      const passing = async () => {
        for await (const entry of tarEntries(inPieces(whole.subarray(0, at), 100))) expect(entry.isFile).toBe(true);
      };
      await expect(passing(), String(at)).rejects.toThrow(TarError);
    }
    expect(await read(whole.subarray(0, end))).toEqual(expected([names.prefixed]));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 344 }), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ by;
        // The checksum field itself has spare characters.
        if (at < 148 || at >= 156) await expect(read(changed)).rejects.toThrow(TarError);
      }),
    );
  });

  it('returns entries or a TarError for any input', async () => {
    const whole = await archived('posix', [names.long]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 512, max: 1535 }), fc.integer({ min: 0, max: 255 })), { maxLength: 20 }),
        async (changes) => {
          const changed = Buffer.from(whole);
          for (const [at, byte] of changes) changed[at] = byte;
          await read(changed).catch((error) => expect(error).toBeInstanceOf(TarError));
        },
      ),
    );
  });

  it('closes its source when the reader stops', async () => {
    const whole = await archived('ustar', [names.short, names.accents]);
    let closed = false;
    const source = (async function* () {
      try {
        yield* inPieces(whole, 512);
      } finally {
        closed = true;
      }
    })();
    for await (const { name } of tarEntries(source)) {
      expect(name).toBe(names.short);
      break;
    }
    expect(closed).toBe(true);
  });

  it('is read quickly, with any extended headers', async () => {
    const blocks = (content: Buffer) => Buffer.concat([content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
    const entry = (type: string, content: string): Buffer => {
      const header = Buffer.alloc(512);
      header.write('x', 0);
      header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
      header.write(`        ${type}`, 148);
      header.write('ustar\x0000', 257);
      const sum = header.reduce((all, byte) => all + byte, 0);
      header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      return Buffer.concat([header, blocks(Buffer.from(content))]);
    };
    const fields = Array.from({ length: 200_000 }, (_, i) => `16 k${String(i).padStart(9, '0')}=v\n`).join('');
    const parts = [entry('g', fields), ...Array<Buffer>(3000).fill(entry('g', '10 path=a\n')), entry('0', 'content')];
    expect(await read(Buffer.concat(parts))).toEqual({ a: 'content' });
  }, 10_000);
});
