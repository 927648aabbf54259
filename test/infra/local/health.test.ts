import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Database } from '#infra/local/host/database.ts';
import { HealthCheck } from '#infra/local/host/health.ts';
import { temporaryFolder } from './support/functions.ts';
import { until } from './support/until.ts';

const open = (folder: string) => {
  for (const name of ['s3', 'tasks']) mkdirSync(join(folder, name));
  const database = Database.open(folder);
  onTestFinished(() => database.close());
  return new HealthCheck(folder, () => database.checkWrite());
};

it('the health check passes if everything can be written, and leaves no file', () => {
  const folder = temporaryFolder();
  expect(open(folder).check()).toEqual({ status: 'ok' });
  expect(execFileSync('find', [folder, '-name', 'health-*'], { encoding: 'utf8' })).toBe('');
});

it('the health check fails while a folder is missing, and names it', async () => {
  const folder = temporaryFolder();
  const check = open(folder);
  rmSync(join(folder, 's3'), { recursive: true });
  expect(check.check()).toEqual({
    status: 'failing',
    failures: [expect.stringMatching(/^s3 in the data folder cannot be written: ENOENT/)],
  });
  mkdirSync(join(folder, 's3'));
  await until('it is ok again', () => check.check().status === 'ok');
});

/** A small disk of its own. */
const mount = (options: string): string | undefined => {
  const folder = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'stepform-test', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
};
const mayMount = (() => {
  try {
    execFileSync('unshare', ['-m', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('Full and read-only disks were not tested: mounting needs root on Linux.');
    return false;
  }
})();

it.runIf(mayMount)(
  'the health check fails on a full disk and on one without inodes, with the remedy, until there is space',
  async () => {
    const folder = mount('size=1m,nr_inodes=40') as string;
    const check = open(folder);
    expect(check.check().status).toBe('ok');
    for (const fill of [
      () => {
        try {
          writeFileSync(join(folder, 'filler'), Buffer.alloc(2 ** 20));
        } catch {
          // Full.
        }
      },
      () => {
        try {
          mkdirSync(join(folder, 'filler'));
          for (let n = 0; n < 100; n++) writeFileSync(join(folder, 'filler', String(n)), '');
        } catch {
          // No more inodes.
        }
      },
    ]) {
      fill();
      const { failures } = await until('it fails', () =>
        check.check().status === 'failing' ? check.check() : undefined,
      );
      expect(failures?.join()).toContain('The disk is full: free some space');
      rmSync(join(folder, 'filler'), { recursive: true });
      await until('it is ok again', () => check.check().status === 'ok');
    }
  },
);

it.runIf(mayMount)('the health check fails on a disk that became read-only', async () => {
  const folder = mount('size=4m') as string;
  const check = open(folder);
  execFileSync('mount', ['-o', 'bind', folder, folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  execFileSync('mount', ['-o', 'remount,bind,ro', folder]);
  const { status, failures } = check.check();
  expect(status).toBe('failing');
  expect(failures?.join()).toContain('read-only');
});
