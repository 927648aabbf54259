import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { locked } from '../../infra/file-lock.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-lock-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('admits one process at a time, and leaves no file', async () => {
  const file = join(folder, 'lock');
  let [working, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++working);
    await new Promise((resolve) => setTimeout(resolve, 5));
    working--;
  };
  await Promise.all(Array.from({ length: 5 }, () => locked(file, work)));
  await expect(locked(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect([most, await readdir(folder)]).toEqual([1, []]);
});

it('names its holder at once, and is taken over from a dead holder', async () => {
  const file = join(folder, 'lock');
  const { readFile } = await import('node:fs/promises');
  await locked(file, async () => {
    expect(await readFile(file, 'utf8')).toBe(String(process.pid));
  });
  await writeFile(file, '4194304');
  expect(await locked(file, async () => 'mine')).toBe('mine');
});
