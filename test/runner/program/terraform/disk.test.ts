import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Control } from '#runner/program/control.ts';
import { watchDisk } from '#runner/program/terraform/disk.ts';
import type { Owner } from '#runner/program/terraform/owner.ts';
import { run } from '#runner/program/terraform/process.ts';
import { takeUsers } from '#runner/program/terraform/users.ts';
import { give } from '#runner/program/workspace/tree.ts';
import { isRoot } from './new-users.ts';

/** A folder of a run on a disk of 64 MiB. */
const onSmallDisk = () => {
  const disk = mkdtempSync(join(tmpdir(), 'disk-test-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,nr_inodes=4000,mode=711', 'disk-test', disk]);
  onTestFinished(() => {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });
  const newRun = (name: string) => {
    // Control groups are named after the folder.
    const folder = join(disk, `${basename(disk)}-${name}`);
    const directory = join(folder, 'configuration');
    mkdirSync(directory, { recursive: true });
    chmodSync(folder, 0o711);
    const { plan } = takeUsers({ terraformUsers: '', rooms: true }, folder);
    give(directory, plan.owner);
    onTestFinished(() => plan.room?.close());
    const sh = (script: string) =>
      run(
        {
          path: '/bin/sh',
          args: ['-c', script],
          directory,
          environment: { PATH: process.env.PATH ?? '' },
          user: plan,
          output: () => {},
        },
        new Control(),
      );
    return { folder, plan, sh };
  };
  return { disk, newRun, ...newRun('run') };
};

const long = 'for n in $(seq 300); do sleep 0.1; done';

describe.runIf(isRoot)('the watch of a shared disk', () => {
  it('ends a run that fills it, with the reason', async () => {
    const { sh } = onSmallDisk();
    await expect(sh(`dd if=/dev/zero of=big bs=1M count=200; ${long}`)).rejects.toThrow(
      /The run was ended because it fills the runner's disk: its files take .* GiB, and 0\.0 GiB are left\. Write less/,
    );
  });

  it('ends a run that fills it with unlinked files, which are open or mapped', async () => {
    const { sh } = onSmallDisk();
    const full = /The run was ended because it fills the runner's disk/;
    await expect(sh(`exec 3>big; rm big; dd if=/dev/zero bs=1M count=200 >&3; ${long}`)).rejects.toThrow(full);
    const mapping =
      'import mmap, os, time; f = os.open("big", os.O_RDWR | os.O_CREAT); os.truncate(f, 63 << 20); m = mmap.mmap(f, 63 << 20); ' +
      'os.unlink("big"); os.close(f); exec("for n in range(0, 63 << 20, 4096): m[n] = 1"); time.sleep(30)';
    await expect(sh(`python3 -c '${mapping}'`)).rejects.toThrow(full);
  });

  it('ends only the run that uses up its number of files', async () => {
    const { sh, newRun } = onSmallDisk();
    const other = newRun('other').sh('for n in $(seq 50); do sleep 0.1; done');
    await expect(sh(`mkdir many; cd many; touch $(seq 3850); ${long}`)).rejects.toThrow(
      /fills the runner's disk: .* and \d+ files are left/,
    );
    expect((await other).code).toBe(0);
  });

  it('ends a run that fills it although its files change while they are counted', async () => {
    const { sh } = onSmallDisk();
    const churn = 'while :; do touch $(seq 900); rm -f $(seq 900); done';
    await expect(sh(`(${churn}) & (${churn}) & dd if=/dev/zero of=big bs=1M count=200; ${long}`)).rejects.toThrow(
      /fills the runner's disk/,
    );
  });

  it('kills a command that ignores the interrupt and frees no space', async () => {
    const { disk, folder, plan } = onSmallDisk();
    execFileSync('fallocate', ['-l', '62M', join(folder, 'configuration/big')]);
    const events: string[] = [];
    await new Promise<void>((resolve) => {
      const ends = {
        interrupt: () => void events.push('interrupt'),
        kill: () => {
          events.push('kill');
          resolve();
        },
      };
      onTestFinished(watchDisk(folder, plan.owner as Owner, ends, 1_000));
    });
    expect(events).toEqual(['interrupt', 'kill']);
    expect(statfsSync(disk).bavail * statfsSync(disk).bsize).toBeGreaterThan((64 * 2 ** 20 * 0.05) / 2);
  });

  it('does not end a run for other users’ files', async () => {
    const { disk, sh } = onSmallDisk();
    execFileSync('fallocate', ['-l', '62M', join(disk, 'of-others')]);
    expect((await sh('for n in $(seq 20); do sleep 0.1; done')).code).toBe(0);
  });
});
