import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copyTree, give, moveAdded, readOwn, take, takeFile } from '../../../functions/runner/workspace/tree.ts';

/** Folders as customers' code leaves them. Whose files are is tested where this is root. */

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

describe('moving a file', () => {
  it('accepts a regular file', () => {
    writeFileSync(at('theirs', 'plan'), 'a plan');
    expect(takeFile(at('theirs', 'plan'), at('plan'), undefined)).toBe(true);
    expect(readFileSync(at('plan'), 'utf8')).toBe('a plan');
    expect(existsSync(at('theirs', 'plan'))).toBe(false);
  });

  it.each([
    ['a link', () => symlinkSync(at('secret'), at('theirs', 'plan'))],
    ['a hard link', () => linkSync(at('secret'), at('theirs', 'plan'))],
    ['a folder', () => mkdirSync(at('theirs', 'plan'))],
    ['a pipe', () => execFileSync('mkfifo', [at('theirs', 'plan')])],
    ['nothing', () => {}],
  ])('rejects %s', (_, leave) => {
    leave();
    expect(takeFile(at('theirs', 'plan'), at('plan'), undefined)).toBe(false);
    expect(existsSync(at('plan'))).toBe(false);
  });

  asRoot('is refused when it is not that user’s', () => {
    writeFileSync(at('theirs', 'plan'), 'root’s');
    expect(takeFile(at('theirs', 'plan'), at('plan'), user)).toBe(false);
    give(at('theirs', 'plan'), user);
    expect(takeFile(at('theirs', 'plan'), at('plan'), user)).toBe(true);
    expect(lstatSync(at('plan')).uid).toBe(0);
  });
});

describe('reading a file', () => {
  it('rejects links and pipes', () => {
    writeFileSync(at('theirs', 'state'), '{}');
    expect(readOwn(at('theirs', 'state')).toString()).toBe('{}');
    symlinkSync(at('secret'), at('theirs', 'link'));
    expect(() => readOwn(at('theirs', 'link'))).toThrow('ELOOP');
    execFileSync('mkfifo', [at('theirs', 'pipe')]);
    expect(() => readOwn(at('theirs', 'pipe'))).toThrow('is not a file');
  });
});

describe('copying a folder', () => {
  it('keeps links as links, and skips pipes', () => {
    mkdirSync(at('theirs', 'module'));
    writeFileSync(at('theirs', 'module', 'run.sh'), 'echo', { mode: 0o700 });
    symlinkSync(at('secret'), at('theirs', 'link'));
    execFileSync('mkfifo', [at('theirs', 'pipe')]);
    copyTree(at('theirs'), at('copy'), undefined);
    expect(lstatSync(at('copy', 'module', 'run.sh')).mode & 0o777).toBe(0o755);
    expect(lstatSync(at('copy', 'link')).isSymbolicLink()).toBe(true);
    expect(existsSync(at('copy', 'pipe'))).toBe(false);
  });

  asRoot('leaves out files of others that were linked into it', () => {
    writeFileSync(at('theirs', 'own'), '');
    give(at('theirs'), user);
    linkSync(at('secret'), at('theirs', 'foreign'));
    copyTree(at('theirs'), at('copy'), user);
    expect(existsSync(at('copy', 'own'))).toBe(true);
    expect(existsSync(at('copy', 'foreign'))).toBe(false);
  });

  asRoot('that is taken cannot be written any more, and files of others stay theirs', () => {
    writeFileSync(at('theirs', 'provider'), '', { mode: 0o777 });
    give(at('theirs'), user);
    take(at('theirs'), user);
    for (const path of [at('theirs'), at('theirs', 'provider')]) {
      expect(lstatSync(path).uid).toBe(0);
      expect(lstatSync(path).mode & 0o022).toBe(0);
    }
  });
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
