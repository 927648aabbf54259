import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keptStatePath, writeKeptState } from '#runner/program/kept-states.ts';

const mounts = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;

it.skipIf(!mounts)('a state that does not fit on the disk leaves no partial file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stepform-kept-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  });
  const key = { key: Buffer.alloc(32).toString('base64'), sealed: 'sealed' };
  const write = (bytes: number) => writeKeptState(keptStatePath(folder, 'run-1'), Buffer.alloc(bytes), 'run-1', key);
  await expect(write(2 << 20)).rejects.toThrow('ENOSPC');
  expect(readdirSync(folder)).toEqual([]);
  await write(1 << 19);
  expect(readdirSync(folder)).toEqual(['run-1.tfstate.encrypted']);
});
