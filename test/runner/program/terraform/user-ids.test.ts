import { fork } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { idsPerRun, UserIds } from '#runner/program/terraform/user-ids.ts';

let directory: string;
let folder: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'user-ids-test-'));
  folder = join(directory, 'users');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const range = { first: 60_000, runs: 1600 };

const runFolder = (name: string | number): string => {
  const path = join(directory, `run-${name}`);
  mkdirSync(path);
  return path;
};

const end = (path: string) => rmSync(path, { recursive: true });

it('user ids are not used again before all others, and more runs one after another do not use them up', () => {
  const ids = new UserIds({ folder, range: { first: 60_000, runs: 160 } });
  const taken: number[] = [];
  for (let run = 0; run < 200; run++) {
    const path = runFolder(run);
    taken.push(ids.take(path));
    end(path);
  }
  expect(taken).toEqual(taken.map((_, n) => 60_000 + (n % 160) * idsPerRun));
  // The last run, and the one before it, whose folder was removed.
  expect(readdirSync(folder)).toHaveLength(2);
});

it('the ids of a runner that was killed stay reserved until its folder is removed', () => {
  const ids = new UserIds({ folder, range: { first: 60_000, runs: 3 } });
  const killed = runFolder('killed');
  const its = ids.take(killed);
  for (let run = 0; run < 10; run++) {
    const path = runFolder(run);
    expect(ids.take(path)).not.toBe(its);
    end(path);
  }
  end(killed);
  const after = [0, 1, 2].map((run) => ids.take(runFolder(`after-${run}`)));
  expect(after).toContain(its);
  expect(new Set(after).size).toBe(3);
});

it('when all ids are in use, the error names the folder that lists their runs', () => {
  const ids = new UserIds({ folder, range: { first: 60_000, runs: 2 } });
  ids.take(runFolder('a'));
  ids.take(runFolder('b'));
  expect(() => ids.take(runFolder('c'))).toThrow(
    `remove the folders of runs that have ended, which the files in ${folder}`,
  );
});

it('a run checks a few folders of other runs, so that many leftovers cost little, and all are checked in turn', () => {
  const forgotten: string[] = [];
  const ids = new UserIds({ folder, range, onForgotten: (path) => forgotten.push(path) });
  const killed = Array.from({ length: 100 }, (_, n) => runFolder(`killed-${n}`));
  for (const path of killed) ids.take(path);
  for (const path of killed) end(path);
  ids.take(runFolder('next'));
  // The highest number stays, and was among those checked.
  expect(forgotten.length).toBeOneOf([15, 16]);
  for (let run = 0; run < 20; run++) ids.take(runFolder(run));
  expect(new Set(forgotten)).toEqual(new Set(killed));
});

it('concurrent processes never get the same ids', async () => {
  const worker = fileURLToPath(new URL('user-ids-worker.ts', import.meta.url));
  const takers = [0, 1, 2].map(
    (n) =>
      new Promise<number[]>((resolve, reject) => {
        const child = fork(worker, [folder, runFolder(n)], { execArgv: [] });
        child.once('message', (all) => resolve(all as number[]));
        child.once('error', reject);
      }),
  );
  const all = (await Promise.all(takers)).flat();
  expect(all).toHaveLength(300);
  expect(new Set(all).size).toBe(300);
});

it('a folder that other users can write is rejected', () => {
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  expect(() => new UserIds({ folder, range })).toThrow('must belong to root alone');
});

it('a file that was just created counts as in use', () => {
  const ids = new UserIds({ folder, range: { first: 60_000, runs: 2 } });
  writeFileSync(join(folder, '0'), '');
  expect(ids.take(runFolder('a'))).toBe(60_000 + idsPerRun);
  expect(existsSync(join(folder, '0'))).toBe(true);
  expect(() => ids.take(runFolder('b'))).toThrow('in use');
});
