import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { User } from '#runner/program/terraform/users.ts';
import { JobDirectory, JobRoot } from '#runner/program/workspace/job-directory.ts';
import { record, recordedDirectory } from '#runner/program/workspace/record.ts';
import { give } from '#runner/program/workspace/tree.ts';

/** Providers as `terraform init` and foreign code can leave them. */

const [owner, reader] = [
  { uid: 64_321, gid: 64_321 },
  { uid: 64_322, gid: 64_322 },
];
const path = 'registry.example.com/acme/fake/1.2.3/linux_amd64';
const program = 'terraform-provider-fake_v1.2.3';
const user = new User(owner);

const sparse = (path: string): void => {
  writeFileSync(path, '');
  truncateSync(path, 2 ** 40);
};

describe.runIf(process.getuid?.() === 0)('installed providers, if Terraform runs as separate users,', () => {
  let outside: string;
  let files: JobDirectory;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'outside-'));
    chmodSync(outside, 0o755);
    files = new JobDirectory('network', { user: owner, reader }, new JobRoot(true));
  });
  afterEach(() => {
    files.remove();
    rmSync(outside, { recursive: true, force: true });
  });

  const installed = () => join(files.configuration, '.terraform', 'providers', path);
  const taken = (...names: string[]) => join(files.providers, path, ...names);
  const write = (folder: string, content = 'as locked', mode = 0o755) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, program), content);
    chmodSync(join(folder, program), mode);
  };
  const link = (target: string) => {
    mkdirSync(dirname(installed()), { recursive: true });
    symlinkSync(target, installed());
  };
  const take = (providerCache?: string) => {
    give(files.configuration, owner);
    const limits = { configurationBytes: 1e6, unpackedBytes: 1e6, files: 100, logBytes: 1e6 };
    const prepared = {
      binary: { path: '', engine: 'terraform' as const, version: '1.11.4', platform: 'linux_amd64' },
      directory: files.configuration,
      module: { backends: [], variables: [], ephemeralVariables: [], overrideFiles: [] },
    };
    record({ files, user, job: { limits }, settings: { providerCache } }, prepared);
    return recordedDirectory({ files }, prepared);
  };
  const asReader = (file: string) => execFileSync('cat', [file], reader).toString();

  it.each([
    ['moved where the run is alone on its machine', undefined],
    ['copied on a machine of several runs', '/cache'],
  ])('are %s, owned by the runner and readable by everyone', (_, cache) => {
    write(installed(), 'as locked', 0o4777);
    const docs = join('docs', ...Array(60).fill('d'));
    write(join(installed(), docs), 'nested');
    writeFileSync(join(dirname(installed()), 'not a package'), '');
    take(cache);
    expect(readdirSync(dirname(taken()))).toEqual([basename(path)]);
    expect(readFileSync(taken(docs, program), 'utf8')).toBe('nested');
    expect(lstatSync(taken(docs, program)).uid).toBe(0);
    for (const folder of [docs, 'docs', '..', '../../../..']) expect(lstatSync(taken(folder)).mode).toBe(0o40755);
    expect(lstatSync(taken(program))).toMatchObject({ uid: 0, mode: 0o100755 });
    expect(lstatSync(taken())).toMatchObject({ uid: 0, mode: 0o40755 });
    expect(readlinkSync(join(files.configuration, '.terraform', 'providers'))).toBe(files.providers);
    expect(asReader(taken(program))).toBe('as locked');
  });

  it('are not needed to record the configuration', () => {
    writeFileSync(join(files.configuration, 'main.tf'), '');
    expect(readdirSync(take())).toEqual(['main.tf']);
  });

  it('bundled unpacked in terraform.d/plugins can be read by the reader', () => {
    const mirror = join(files.configuration, 'terraform.d/plugins', path);
    write(mirror);
    link(mirror);
    const recorded = take();
    expect(asReader(join(recorded, '.terraform', 'providers', path, program))).toBe('as locked');
  });

  it('behind a link are unchanged, although their files are replaced afterwards', () => {
    write(outside);
    give(outside, owner);
    link(outside);
    take();
    writeFileSync(join(outside, program), 'replaced');
    expect(lstatSync(taken()).isDirectory()).toBe(true);
    expect(readFileSync(taken(program), 'utf8')).toBe('as locked');
  });

  it('that another process still has open are copied on a machine of several runs', () => {
    write(installed());
    const before = lstatSync(join(installed(), program)).ino;
    take('/cache');
    expect(lstatSync(taken(program)).ino).not.toBe(before);
  });

  it('with a link inside contain the linked file', () => {
    write(outside);
    give(outside, owner);
    write(installed());
    symlinkSync(join(outside, program), join(installed(), 'LICENSE'));
    take('/cache');
    expect(lstatSync(taken('LICENSE')).isFile()).toBe(true);
  });

  it('of the machine’s own cache are linked, not copied', () => {
    write(outside);
    link(outside);
    take('/cache');
    expect(lstatSync(taken(program)).ino).toBe(lstatSync(join(outside, program)).ino);
  });

  it.each([
    ['a folder that Terraform’s user cannot enter', () => link(privateFolder()), "not readable by Terraform's user"],
    [
      'a file that Terraform’s user cannot read',
      () => {
        write(outside, 'secret', 0o640);
        link(outside);
      },
      "not readable by Terraform's user",
    ],
    [
      'a link to such a file',
      () => {
        write(installed());
        symlinkSync(join(privateFolder(), program), join(installed(), 'LICENSE'));
      },
      "not readable by Terraform's user",
    ],
    [
      'the runner’s own files by its process',
      () => link(`/proc/${process.pid}/root${privateFolder()}`),
      "not readable by Terraform's user",
    ],
    [
      'a pipe',
      () => {
        write(outside);
        execFileSync('mkfifo', ['-m', '666', join(outside, 'pipe')]);
        link(outside);
      },
      'a named pipe, not a regular file',
    ],
    [
      'a sparse file of terabytes',
      () => {
        write(outside);
        sparse(join(outside, 'sparse'));
        lchownSync(join(outside, 'sparse'), owner.uid, owner.gid);
        link(outside);
      },
      'too many files or bytes',
    ],
    ['nothing', () => link('/nowhere'), 'a link that leads nowhere'],
    [
      'providers of a registry',
      () => {
        write(join(outside, path));
        mkdirSync(join(files.configuration, '.terraform', 'providers'), { recursive: true });
        const registry = 'registry.example.com';
        symlinkSync(join(outside, registry), join(files.configuration, '.terraform', 'providers', registry));
      },
      'registry.example.com is a symbolic link',
    ],
    [
      'all providers',
      () => {
        write(join(outside, path));
        mkdirSync(join(files.configuration, '.terraform'));
        symlinkSync(outside, join(files.configuration, '.terraform', 'providers'));
      },
      'providers is a symbolic link, not a folder',
    ],
    [
      'Terraform’s folder',
      () => {
        write(join(outside, 'providers', path));
        symlinkSync(outside, join(files.configuration, '.terraform'));
      },
      '.terraform is a symbolic link, not a folder',
    ],
  ])('are rejected behind a link to %s', (_, leave, why) => {
    leave();
    expect(() => take('/cache')).toThrow(why);
    expect(existsSync(taken(program)) && readFileSync(taken(program), 'utf8')).not.toBe('secret');
  });

  const privateFolder = (): string => {
    const folder = join(outside, 'private');
    write(folder, 'secret');
    chmodSync(folder, 0o700);
    return folder;
  };

  it.each([
    ['a link', () => symlinkSync('/etc/hostname', join(files.configuration, '.terraform.lock.hcl')), 'a symbolic link'],
    ['a pipe', () => execFileSync('mkfifo', [join(files.configuration, '.terraform.lock.hcl')]), 'a named pipe'],
  ])('are rejected with a lock file that is %s', (_, leave, why) => {
    leave();
    expect(() => take()).toThrow(why);
  });

  it('cannot configure the Terraform of the reader', () => {
    expect(() => execFileSync('touch', [join(files.kept.home, '.terraformrc')], { ...reader, stdio: 'pipe' })).toThrow(
      'Permission denied',
    );
  });
});
