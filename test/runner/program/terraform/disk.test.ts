import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Control } from '#runner/program/control.ts';
import { run } from '#runner/program/terraform/process.ts';
import { takeUsers } from '#runner/program/terraform/users.ts';
import { give } from '#runner/program/workspace/tree.ts';
import { isRoot } from './new-users.ts';

/** A folder of a run on a disk of 64 MiB. */
const onSmallDisk = () => {
  const disk = mkdtempSync(join(tmpdir(), 'disk-test-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=711', 'disk-test', disk]);
  const folder = join(disk, 'run');
  const directory = join(folder, 'configuration');
  mkdirSync(directory, { recursive: true });
  chmodSync(folder, 0o711);
  const { plan } = takeUsers({ terraformUsers: '', rooms: true }, folder);
  give(directory, plan.owner);
  onTestFinished(() => {
    plan.room?.close();
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });
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
  return { disk, sh };
};

const long = 'for n in $(seq 300); do sleep 0.1; done';

describe.runIf(isRoot)('the disk that runs share', () => {
  it('a run that fills it is ended, with the reason', async () => {
    const { sh } = onSmallDisk();
    await expect(sh(`dd if=/dev/zero of=big bs=1M count=200; ${long}`)).rejects.toThrow(
      /The run was ended because it fills the runner's disk: its files take .* GiB, and 0\.0 GiB are left\. Write less/,
    );
  });

  it('a run that fills it with files that have no name, or are open nowhere but mapped, is ended', async () => {
    const { sh } = onSmallDisk();
    const full = /The run was ended because it fills the runner's disk/;
    await expect(sh(`exec 3>big; rm big; dd if=/dev/zero bs=1M count=200 >&3; ${long}`)).rejects.toThrow(full);
    const mapping =
      'import mmap, os, time; f = os.open("big", os.O_RDWR | os.O_CREAT); os.truncate(f, 63 << 20); m = mmap.mmap(f, 63 << 20); ' +
      'os.unlink("big"); os.close(f); exec("for n in range(0, 63 << 20, 4096): m[n] = 1"); time.sleep(30)';
    await expect(sh(`python3 -c '${mapping}'`)).rejects.toThrow(full);
  });

  it('a run is not ended for what others have written', async () => {
    const { disk, sh } = onSmallDisk();
    execFileSync('fallocate', ['-l', '62M', join(disk, 'of-others')]);
    expect((await sh('for n in $(seq 20); do sleep 0.1; done')).code).toBe(0);
  });
});
