import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from '#runner/program/workspace/door.ts';
import { UnexpectedFileError } from '#runner/program/workspace/unexpected-file.ts';

/** Access through the door to folders that foreign code can write. */

let root: string;
const at = (...names: string[]) => join(root, ...names);
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'door-')));
  mkdirSync(at('theirs'));
  mkdirSync(at('private'));
  writeFileSync(at('private', 'secret'), 'the runner’s', { mode: 0o600 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const within = <T>(work: (folder: Folder) => T): T => Folder.at(at('theirs'), work);
const expected = { of: undefined, maxBytes: 100 };

describe('reading through the door', () => {
  it('returns a regular file, and undefined if there is none', () => {
    writeFileSync(at('theirs', 'file'), 'content');
    expect(within((folder) => folder.read('file', expected)).toString()).toBe('content');
    expect(within((folder) => folder.readIfThere('other', expected))).toBeUndefined();
  });

  it.each([
    ['a symbolic link', () => symlinkSync(at('private', 'secret'), at('theirs', 'x')), 'a symbolic link'],
    ['a hard link', () => linkSync(at('private', 'secret'), at('theirs', 'x')), 'a hard link'],
    ['a pipe, at which it does not wait', () => execFileSync('mkfifo', [at('theirs', 'x')]), 'a named pipe'],
    ['a folder', () => mkdirSync(at('theirs', 'x')), 'a folder'],
    ['a file that is too large', () => writeFileSync(at('theirs', 'x'), 'x'.repeat(101)), 'larger than'],
  ])('rejects %s', (_, leave, why) => {
    leave();
    const read = () => within((folder) => folder.readIfThere('x', expected));
    expect(read).toThrow(UnexpectedFileError);
    expect(read).toThrow(why);
  });

  it.runIf(process.getuid?.() === 0)('rejects another user’s file', () => {
    writeFileSync(at('theirs', 'x'), '');
    expect(() => within((folder) => folder.read('x', { of: { uid: 64_321, gid: 64_321 }, maxBytes: 100 }))).toThrow(
      "another user's file",
    );
  });
});

describe('writing through the door', () => {
  it.each([
    ['a symbolic link', () => symlinkSync(at('private', 'secret'), at('theirs', 'x'))],
    ['a hard link', () => linkSync(at('private', 'secret'), at('theirs', 'x'))],
    ['a pipe', () => execFileSync('mkfifo', [at('theirs', 'x')])],
    [
      'a folder with a link',
      () => {
        mkdirSync(at('theirs', 'x'));
        symlinkSync(at('private'), at('theirs', 'x', 'link'));
      },
    ],
  ])('replaces %s', (_, leave) => {
    leave();
    within((folder) => folder.write('x', 'né', 0o640));
    expect(readFileSync(at('theirs', 'x'), 'utf8')).toBe('né');
    expect(lstatSync(at('theirs', 'x')).mode).toBe(0o100640);
    expect(readFileSync(at('private', 'secret'), 'utf8')).toBe('the runner’s');
  });
});

it('a folder is created with its mode, also if it exists, and reached at any depth', () => {
  const umask = process.umask(0o077);
  within((folder) => folder.makeFolder('a', 0o755));
  process.umask(umask);
  expect(lstatSync(at('theirs', 'a')).mode & 0o777).toBe(0o755);
  within((folder) => folder.makeFolder('a', 0o711));
  expect(lstatSync(at('theirs', 'a')).mode & 0o777).toBe(0o711);
  mkdirSync(at('theirs', 'a', 'b'));
  const below = (...names: string[]) => within((folder) => folder.below(names, ({ path }) => path));
  expect([below(), below('a', 'b')]).toEqual([at('theirs'), at('theirs', 'a', 'b')]);
});

it('an entry of a folder is accessed by its name only', () => {
  symlinkSync(at('private'), at('theirs', 'link'));
  expect(() => within((folder) => folder.within('link', () => {}))).toThrow('a symbolic link, not a folder');
  for (const name of ['..', '.', '', 'a/b', '/etc'])
    expect(() => within((folder) => folder.within(name, () => {}))).toThrow('is not the name of an entry');
});

it.runIf(process.platform === 'linux')(
  'an open folder is that folder, although its name leads elsewhere by now',
  () => {
    within((folder) => {
      execFileSync('mv', [at('theirs'), at('moved')]);
      symlinkSync(at('private'), at('theirs'));
      folder.write('secret', 'of the folder', 0o600);
      folder.remove('secret');
      folder.write('new', '', 0o600);
    });
    expect(readdirSync(at('moved'))).toEqual(['new']);
    expect(readFileSync(at('private', 'secret'), 'utf8')).toBe('the runner’s');
  },
);

it.runIf(process.platform === 'linux')(
  'a folder that is swapped for a link again and again leads nowhere else',
  async () => {
    mkdirSync(at('theirs', 'sub'));
    chmodSync(at('private'), 0o700);
    const swapper = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [theirs, target] = process.argv.slice(1);
console.log('swapping');
for (;;) {
  renameSync(theirs + '/sub', theirs + '/real');
  symlinkSync(target, theirs + '/sub');
  unlinkSync(theirs + '/sub');
  renameSync(theirs + '/real', theirs + '/sub');
}`;
    const child = spawn(process.execPath, ['-e', swapper, at('theirs'), at('private')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    let [done, refused] = [0, 0];
    for (const end = Date.now() + 60_000; (done < 40 || refused < 40) && Date.now() < end; ) {
      try {
        within((folder) =>
          folder.within('sub', (sub) => {
            sub.write('secret', 'overwritten', 0o600);
            sub.remove('secret');
            sub.write('left', '', 0o600);
          }),
        );
        done += 1;
      } catch {
        refused += 1;
      }
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(Math.min(done, refused)).toBeGreaterThanOrEqual(40);
    expect(readdirSync(at('private'))).toEqual(['secret']);
    expect(readFileSync(at('private', 'secret'), 'utf8')).toBe('the runner’s');
  },
);
