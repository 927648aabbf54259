import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
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
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PhaseError } from '#runner/program/errors.ts';
import { readForeign, removeForeign } from '#runner/program/workspace/foreign-paths.ts';
import { JobDirectory, JobRoot } from '#runner/program/workspace/job-directory.ts';
import {
  Budget,
  copyTree,
  emptyFolder,
  give,
  makeFolder,
  moveAdded,
  placeFile,
  takeFile,
} from '#runner/program/workspace/tree.ts';
import { UnexpectedFileError } from '#runner/program/workspace/unexpected-file.ts';

/** Whole folders of foreign code, which the runner copies, takes over and gives to users. */

let root: string;
const at = (...names: string[]) => join(root, ...names);
const write = (name: string, content = name, mode = 0o644): string => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), content);
  chmodSync(at(name), mode);
  return at(name);
};
const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);
const ownerOf = (path: string): number => lstatSync(path).uid;
const listed = (path: string): string[] => readdirSync(path, { recursive: true }).map(String).sort();
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'tree-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const theirs = { uid: 64_321, gid: 64_321 };
const plenty = () => new Budget('The folder', { files: 100, bytes: 10_000 });

it('a folder of the runner has its mode regardless of the umask, also if it exists', () => {
  const umask = process.umask(0o077);
  try {
    makeFolder(at('new', 'inner'), 0o755);
    chmodSync(at('new', 'inner'), 0o700);
    makeFolder(at('new', 'inner'), 0o755);
  } finally {
    process.umask(umask);
  }
  expect(modeOf(at('new', 'inner'))).toBe('755');
});

describe('copying a folder', () => {
  it('copies files, programs, folders and links, readable for all, and no pipes', () => {
    write('from/secret', 'a', 0o600);
    write('from/deep/er/run', 'b', 0o4700);
    symlinkSync('../secret', at('from', 'deep', 'link'));
    execFileSync('mkfifo', [at('from', 'pipe')]);
    mkdirSync(at('to'));
    copyTree(at('from'), at('to'), undefined, plenty());
    expect(listed(at('to'))).toEqual(['deep', 'deep/er', 'deep/er/run', 'deep/link', 'secret']);
    expect([modeOf(at('to', 'secret')), modeOf(at('to', 'deep', 'er', 'run'))]).toEqual(['644', '755']);
    expect(modeOf(at('to', 'deep'))).toBe('755');
    expect(readFileSync(at('to', 'deep', 'er', 'run'), 'utf8')).toBe('b');
    expect(readlinkSync(at('to', 'deep', 'link'))).toBe('../secret');
  });

  it.runIf(isRoot)('skips other users’ files if the owner is known', () => {
    write('from/own');
    chownSync(write('from/another'), theirs.uid, theirs.gid);
    for (const [to, of, expected] of [
      ['all', undefined, ['another', 'own']],
      ['ours', { uid: 0, gid: 0 }, ['own']],
      ['their', theirs, ['another']],
    ] as const) {
      mkdirSync(at(to));
      copyTree(at('from'), at(to), of, plenty());
      expect(listed(at(to))).toEqual(expected);
    }
  });

  it('fails exactly at the limits of entries and bytes', () => {
    write('from/a', '12345');
    write('from/folder/b', '12345');
    symlinkSync('a', at('from', 'link'));
    const copy = (to: string, files: number, bytes: number) => {
      mkdirSync(at(to));
      copyTree(at('from'), at(to), undefined, new Budget('The folder', { files, bytes }));
    };
    copy('enough', 4, 10);
    expect(() => copy('too many', 3, 10)).toThrow('The folder has too many files or bytes');
    expect(() => copy('too large', 4, 9)).toThrow(PhaseError);
  });

  it('reads nothing of a sparse file that is too large', () => {
    write('from/sparse', '');
    truncateSync(at('from', 'sparse'), 2 ** 40);
    mkdirSync(at('to'));
    expect(() => copyTree(at('from'), at('to'), undefined, plenty())).toThrow('too many files or bytes');
    expect(listed(at('to'))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'accepts names that are not UTF-8, which can also be given and removed',
    () => {
      mkdirSync(at('from'));
      writeFileSync(Buffer.concat([Buffer.from(`${at('from')}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'content');
      symlinkSync(Buffer.from([0xff]), at('from', 'link'));
      mkdirSync(at('to'));
      if (isRoot) give(at('from'), theirs);
      copyTree(at('from'), at('to'), isRoot ? theirs : undefined, plenty());
      expect(readdirSync(at('to'), 'latin1').toSorted()).toEqual(['f\xff\xfe', 'link']);
      expect(readlinkSync(at('to', 'link'), 'latin1')).toBe('\xff');
      emptyFolder(at('to'));
      expect(readdirSync(at('to'))).toEqual([]);
    },
  );

  it('fails if folders are nested too deeply', () => {
    mkdirSync(at('from', ...Array.from({ length: 100 }, () => 'd')), { recursive: true });
    mkdirSync(at('to'));
    const spacious = () => new Budget('The folder', { files: 1000, bytes: 0 });
    copyTree(at('from'), at('to'), undefined, spacious());
    mkdirSync(at('from', ...Array.from({ length: 101 }, () => 'd')), { recursive: true });
    rmSync(at('to', 'd'), { recursive: true });
    expect(() => copyTree(at('from'), at('to'), undefined, spacious())).toThrow(/nested more than 100 deep/);
  });
});

describe('a file that a user has written', () => {
  const expected = { of: undefined, maxBytes: 100 };
  it('is moved to a copy of the runner, which replaces an earlier one', () => {
    write('theirs/plan', 'new');
    write('own/plan', 'former');
    expect(takeFile(at('theirs', 'plan'), at('own', 'plan'), expected)).toBe(true);
    expect(readFileSync(at('own', 'plan'), 'utf8')).toBe('new');
    expect(modeOf(at('own', 'plan'))).toBe('600');
    expect(existsSync(at('theirs', 'plan'))).toBe(false);
    expect(takeFile(at('theirs', 'plan'), at('own', 'plan'), expected)).toBe(false);
    expect(readFileSync(at('own', 'plan'), 'utf8'), 'where there is none').toBe('new');
  });

  it.runIf(isRoot)('can be read by the reader if it has an owner', () => {
    chownSync(write('theirs/plan'), theirs.uid, theirs.gid);
    mkdirSync(at('own'));
    expect(takeFile(at('theirs', 'plan'), at('own', 'plan'), { ...expected, of: theirs })).toBe(true);
    expect([modeOf(at('own', 'plan')), ownerOf(at('own', 'plan'))]).toEqual(['644', 0]);
  });

  it('keeps its content although another process still has it open', () => {
    write('theirs/plan', 'judged');
    mkdirSync(at('own'));
    const file = openSync(at('theirs', 'plan'), 'r+');
    expect(takeFile(at('theirs', 'plan'), at('own', 'plan'), expected)).toBe(true);
    writeSync(file, 'forged');
    closeSync(file);
    expect(readFileSync(at('own', 'plan'), 'utf8')).toBe('judged');
  });

  it('is not taken when it is a link, or has another name', () => {
    write('own/secret');
    mkdirSync(at('theirs'));
    symlinkSync(at('own', 'secret'), at('theirs', 'link'));
    linkSync(at('own', 'secret'), at('theirs', 'hard'));
    for (const name of ['link', 'hard'])
      expect(() => takeFile(at('theirs', name), at('own', 'taken'), expected)).toThrow(UnexpectedFileError);
    expect(existsSync(at('own', 'taken'))).toBe(false);
  });
});

it('a file of the runner is placed for its user only, and not through a link', () => {
  write('own/state', 'state');
  write('private/file', 'private');
  mkdirSync(at('theirs'));
  symlinkSync(at('private', 'file'), at('theirs', 'state'));
  placeFile(at('own', 'state'), at('theirs', 'state'), isRoot ? theirs : undefined);
  expect(readFileSync(at('private', 'file'), 'utf8')).toBe('private');
  expect(lstatSync(at('theirs', 'state')).isFile()).toBe(true);
  expect([modeOf(at('theirs', 'state')), ownerOf(at('theirs', 'state'))]).toEqual([
    '600',
    isRoot ? theirs.uid : process.getuid?.(),
  ]);
});

it('files that a plan has added are moved, except replaced or linked ones and those that Terraform reads implicitly', () => {
  const [unasked, secret] = [
    [
      ...['a.tf', 'zz_override.tf.json', 'b.auto.tfvars.json', 'terraform.tfstate.backup', '.git', '.gitconfig'],
      ...['providers', '.terraform/providers/p', '.terraform.lock.hcl', '.terraformrc'],
    ],
    'own/secret',
  ];
  for (const name of unasked) write(`from/${name}`);
  for (const name of ['lambda.zip', 'there.txt', 'new/inner.txt', 'old/inner.txt', 'clash/inner.txt'])
    write(`from/${name}`);
  write('from/.terraform/modules/m/code.zip');
  write('to/there.txt', 'kept');
  write('to/old/kept.txt');
  write('to/clash', 'a file');
  write(secret);
  symlinkSync(at(secret), at('from', 'link'));
  linkSync(at(secret), at('from', 'hard'));
  moveAdded(at('from'), at('to'), undefined);
  expect(listed(at('to'))).toEqual([
    ...['.terraform', '.terraform/modules', '.terraform/modules/m', '.terraform/modules/m/code.zip'],
    'clash',
    'lambda.zip',
    'new',
    'new/inner.txt',
    'old',
    'old/inner.txt',
    'old/kept.txt',
    'there.txt',
  ]);
  expect(readFileSync(at('to', 'there.txt'), 'utf8')).toBe('kept');
  expect(existsSync(at('from', 'lambda.zip')), 'moved, not copied').toBe(false);
});

it('added files in folders that are nested too deep are refused', () => {
  mkdirSync(at('to'));
  mkdirSync(at('from', ...Array.from({ length: 100 }, () => 'd')), { recursive: true });
  moveAdded(at('from'), at('to'), undefined);
  mkdirSync(at('from', ...Array.from({ length: 101 }, () => 'd')), { recursive: true });
  expect(() => moveAdded(at('from'), at('to'), undefined)).toThrow(/nested more than 100 deep/);
});

it('a folder is emptied completely, at any depth', () => {
  write('own/secret');
  mkdirSync(at('theirs'));
  symlinkSync(at('own', 'secret'), at('theirs', 'link'));
  // Deeper than the maximum length of a path.
  const deep = 'd/'.repeat(1500);
  execFileSync('sh', ['-c', `cd "$0" && mkdir -p ${deep} && cd -P ${deep} && mkdir -p ${deep}`, at('theirs')]);
  emptyFolder(at('theirs'));
  expect([readdirSync(at('theirs')), listed(at('own'))]).toEqual([[], ['secret']]);
});

it('a file or folder of foreign code is read and removed without following links', () => {
  write('own/secret');
  write('theirs/file', 'content');
  write('theirs/folder/deep/file');
  symlinkSync(at('own'), at('theirs', 'link'));
  symlinkSync(at('own'), at('theirs', 'folder', 'link'));
  expect(readForeign(at('theirs', 'file'), { of: undefined, maxBytes: 100 }).toString()).toBe('content');
  for (const name of ['file', 'folder', 'link', 'nothing']) removeForeign(at('theirs', name));
  expect(listed(at('theirs'))).toEqual([]);
  expect(listed(at('own'))).toEqual(['secret']);
});

describe.runIf(isRoot)('a folder as root', () => {
  it('is given to a user with its contents, without following links', () => {
    write('folder/deep/file');
    write('own/secret');
    symlinkSync(at('own', 'secret'), at('folder', 'deep', 'link'));
    give(at('folder'), undefined);
    expect(ownerOf(at('folder'))).toBe(0);
    give(at('folder'), theirs);
    give(at('nothing'), theirs);
    for (const name of ['.', 'deep', 'deep/file', 'deep/link'])
      expect(ownerOf(at('folder', name)), name).toBe(theirs.uid);
    expect([ownerOf(at('own', 'secret')), ownerOf(root)]).toEqual([0, 0]);
  });

  it('is the runner’s alone after it was emptied', () => {
    write('folder/deep/file');
    write('own/secret');
    symlinkSync(at('own'), at('folder', 'link'));
    give(at('folder'), theirs);
    chmodSync(at('folder'), 0o777);
    emptyFolder(at('folder'));
    expect([listed(at('folder')), ownerOf(at('folder')), modeOf(at('folder'))]).toEqual([[], 0, '700']);
    expect(listed(at('own'))).toEqual(['secret']);
  });
});

describe('the folder of a job', () => {
  let job: JobDirectory;
  const owner = isRoot ? theirs : undefined;
  beforeEach(() => {
    job = new JobDirectory('network', owner ? { user: owner } : {});
  });
  afterEach(() => job.remove());

  it('gives the user the folders that Terraform writes, and keeps the rest', () => {
    const [user, runner] = [owner?.uid ?? process.getuid?.(), process.getuid?.()];
    for (const path of [job.configuration, job.home, job.temporary, dirname(job.state), job.out])
      expect([path, modeOf(path), ownerOf(path)]).toEqual([path, '700', user]);
    expect([modeOf(job.own('')), ownerOf(job.own(''))]).toEqual(['700', runner]);
    expect([modeOf(job.states), ownerOf(job.states)]).toEqual([owner ? '755' : '700', runner]);
    expect([modeOf(job.root), ownerOf(job.root)]).toEqual([owner ? '711' : '700', runner]);
    expect([modeOf(job.kept.root), modeOf(job.kept.home), modeOf(job.kept.temporary)]).toEqual(['750', '755', '700']);
    expect(job.log('plan')).toBe(join(job.root, 'own', 'plan.log'));
  });

  it('is new after a plan: files that its user could write are removed, except the previous configuration', () => {
    const left = [job.home, job.temporary, job.out, dirname(job.state), job.states].map((path) => join(path, 'left'));
    for (const path of [...left, join(job.configuration, 'main.tf'), job.variables]) writeFileSync(path, 'left');
    writeFileSync(job.own('plan.json'), 'the runner’s');
    const moved = job.renew(owner);
    expect(readdirSync(moved)).toEqual(['main.tf']);
    expect(dirname(moved)).toBe(join(job.root, 'own'));
    for (const path of [...left, job.variables]) expect(existsSync(path), path).toBe(false);
    expect([readdirSync(job.configuration), modeOf(job.configuration)]).toEqual([[], '700']);
    if (owner) expect(ownerOf(job.configuration)).toBe(owner.uid);
    expect(existsSync(job.own('plan.json'))).toBe(true);
    expect(job.renew(owner), 'a second time').not.toBe(moved);
  });

  it('is in a folder that other users can enter, if it has users', () => {
    const before = process.env.TMPDIR;
    process.env.TMPDIR = at();
    const roots = [new JobRoot(true), new JobRoot(false)];
    process.env.TMPDIR = before;
    expect(roots.map(({ path }) => dirname(path) === root)).toEqual([false, true]);
    for (const one of roots) one.remove();
  });

  it('is removed with all its contents', () => {
    writeFileSync(join(job.configuration, 'main.tf'), '');
    job.remove();
    expect(existsSync(job.root)).toBe(false);
  });
});
