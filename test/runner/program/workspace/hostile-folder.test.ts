import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Budget, copyTree, emptyFolder, give, moveAdded, takeFile } from '#runner/program/workspace/tree.ts';

/** Folders that customers' code has left. Ownership is tested if the tests run as root. */

const asRoot = it.runIf(process.getuid?.() === 0);
const user = { uid: 64_321, gid: 64_321 };
let root: string;
const at = (...names: string[]) => join(root, ...names);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tree-'));
  chmodSync(root, 0o711);
  mkdirSync(at('theirs'));
  writeFileSync(at('secret'), 'the runner’s', { mode: 0o600 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const sparse = (path: string): void => {
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
};

describe('taking a file', () => {
  it('accepts a regular file', () => {
    writeFileSync(at('theirs', 'plan'), 'a plan');
    expect(takeFile(at('theirs', 'plan'), at('plan'), { of: undefined, maxBytes: 100 })).toBe(true);
    expect(readFileSync(at('plan'), 'utf8')).toBe('a plan');
    expect(existsSync(at('theirs', 'plan'))).toBe(false);
  });

  it.each([
    ['a link', () => symlinkSync(at('secret'), at('theirs', 'plan')), 'a symbolic link, not a regular file'],
    ['a hard link', () => linkSync(at('secret'), at('theirs', 'plan')), 'a hard link'],
    ['a folder', () => mkdirSync(at('theirs', 'plan')), 'a folder, not a regular file'],
    ['a pipe', () => execFileSync('mkfifo', [at('theirs', 'plan')]), 'a named pipe, not a regular file'],
    ['a sparse file', () => sparse(at('theirs', 'plan')), 'larger than 1 MiB'],
  ])('rejects %s with the reason', (_, leave, why) => {
    leave();
    expect(() => takeFile(at('theirs', 'plan'), at('plan'), { of: undefined, maxBytes: 2 ** 20 })).toThrow(why);
    expect(existsSync(at('plan'))).toBe(false);
  });

  it('keeps the content although another process still has the file open', () => {
    writeFileSync(at('theirs', 'plan'), 'judged');
    const file = openSync(at('theirs', 'plan'), 'r+');
    expect(takeFile(at('theirs', 'plan'), at('plan'), { of: undefined, maxBytes: 100 })).toBe(true);
    writeSync(file, 'forged');
    closeSync(file);
    expect(readFileSync(at('plan'), 'utf8')).toBe('judged');
  });

  it('reports a missing file', () => {
    expect(takeFile(at('theirs', 'plan'), at('plan'), { of: undefined, maxBytes: 100 })).toBe(false);
  });

  asRoot('is refused when it is not that user’s', () => {
    writeFileSync(at('theirs', 'plan'), 'root’s');
    const expected = { of: user, maxBytes: 100 };
    expect(() => takeFile(at('theirs', 'plan'), at('plan'), expected)).toThrow("another user's file");
    give(at('theirs', 'plan'), user);
    expect(takeFile(at('theirs', 'plan'), at('plan'), expected)).toBe(true);
    expect(lstatSync(at('plan')).uid).toBe(0);
  });
});

describe('copying a folder', () => {
  const plenty = () => new Budget('The folder', { files: 100, bytes: 2 ** 20 });
  beforeEach(() => mkdirSync(at('copy')));

  it('keeps links as links, and skips pipes', () => {
    mkdirSync(at('theirs', 'module'));
    writeFileSync(at('theirs', 'module', 'run.sh'), 'echo', { mode: 0o700 });
    symlinkSync(at('secret'), at('theirs', 'link'));
    execFileSync('mkfifo', [at('theirs', 'pipe')]);
    copyTree(at('theirs'), at('copy'), undefined, plenty());
    expect(lstatSync(at('copy', 'module', 'run.sh')).mode & 0o777).toBe(0o755);
    expect(lstatSync(at('copy', 'link')).isSymbolicLink()).toBe(true);
    expect(existsSync(at('copy', 'pipe'))).toBe(false);
  });

  asRoot('leaves out files of others that were linked into it', () => {
    writeFileSync(at('theirs', 'own'), '');
    give(at('theirs'), user);
    linkSync(at('secret'), at('theirs', 'foreign'));
    copyTree(at('theirs'), at('copy'), user, plenty());
    expect(existsSync(at('copy', 'own'))).toBe(true);
    expect(existsSync(at('copy', 'foreign'))).toBe(false);
  });

  it('stops at its limits, regardless of the size of a sparse file', () => {
    sparse(at('theirs', 'sparse'));
    expect(() => copyTree(at('theirs'), at('copy'), undefined, plenty())).toThrow(
      'The folder has too many files or bytes',
    );
    expect(existsSync(at('copy', 'sparse'))).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'accepts names that are not UTF-8, which can also be given and removed',
    () => {
      const name = Buffer.concat([Buffer.from(`${at('theirs')}/`), Buffer.from([0x66, 0xff, 0xfe])]);
      writeFileSync(name, 'content');
      symlinkSync(Buffer.from([0xff]), at('theirs', 'link'));
      if (process.getuid?.() === 0) give(at('theirs'), user);
      copyTree(at('theirs'), at('copy'), process.getuid?.() === 0 ? user : undefined, plenty());
      const names = readdirSync(at('copy'), 'latin1');
      expect(names.toSorted()).toEqual(['f\xff\xfe', 'link']);
      expect(readlinkSync(at('copy', 'link'), 'latin1')).toBe('\xff');
      emptyFolder(at('copy'));
      expect(readdirSync(at('copy'))).toEqual([]);
    },
  );

  asRoot('copies no set-user-id bits, and never has them', () => {
    writeFileSync(at('theirs', 'program'), 'x');
    chmodSync(at('theirs', 'program'), 0o4755);
    copyTree(at('theirs'), at('copy'), undefined, plenty());
    expect(lstatSync(at('copy', 'program')).mode & 0o7777).toBe(0o755);
  });
});

it('a folder is emptied completely, at any depth', () => {
  symlinkSync(at('secret'), at('theirs', 'link'));
  // Deeper than the maximum length of a path.
  const deep = 'd/'.repeat(1500);
  execFileSync('sh', ['-c', `cd "$0" && mkdir -p ${deep} && cd -P ${deep} && mkdir -p ${deep}`, at('theirs')]);
  emptyFolder(at('theirs'));
  expect(readdirSync(at('theirs'))).toEqual([]);
  expect(readFileSync(at('secret'), 'utf8')).toBe('the runner’s');
});

describe('files added by a plan', () => {
  it('are moved, except existing files and files that Terraform or git read implicitly', () => {
    mkdirSync(at('apply'));
    mkdirSync(at('apply', '.terraform'));
    writeFileSync(at('apply', 'script.sh'), 'recorded');
    mkdirSync(at('theirs', '.terraform', 'providers'), { recursive: true });
    mkdirSync(at('theirs', '.terraform', 'modules', 'm'), { recursive: true });
    mkdirSync(at('theirs', 'build'));
    const left = [
      'script.sh',
      'build/code.zip',
      '.terraform/modules/m/code.zip',
      '.terraform/providers/p',
      'more.tf',
      'zz_override.tf.json',
      'x.auto.tfvars',
      '.terraform.lock.hcl',
      '.terraformrc',
      '.gitconfig',
    ];
    for (const name of left) writeFileSync(at('theirs', name), 'changed');
    symlinkSync(at('secret'), at('theirs', 'link'));
    linkSync(at('secret'), at('theirs', 'hard'));
    moveAdded(at('theirs'), at('apply'), undefined);
    const there = left.filter((name) => existsSync(at('apply', name)));
    expect(there).toEqual(['script.sh', 'build/code.zip', '.terraform/modules/m/code.zip']);
    expect(readFileSync(at('apply', 'script.sh'), 'utf8')).toBe('recorded');
    for (const name of ['link', 'hard']) expect(existsSync(at('apply', name))).toBe(false);
  });
});
