import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { holderOf, locked, tryLock } from '#infra/build/file-lock.ts';

const folder = await mkdtemp(join(tmpdir(), 'file-lock-'));
afterAll(() => rm(folder, { recursive: true }));

/** A process that takes the lock, prints a line, and holds it until it ends. */
const holder = `
const { tryLock } = await import(${JSON.stringify(new URL('../../infra/build/file-lock.ts', import.meta.url).href)});
globalThis.release = tryLock(process.argv[1]);
console.log(globalThis.release ? 'locked' : 'refused');
if (process.argv[2]) setInterval(() => {}, 1000);
`;
const node = (...args: string[]) => ['--input-type=module', '-e', holder, ...args];

const hold = async (file: string) => {
  const child = execFile(process.execPath, node(file, 'hold'));
  expect(String(await once(child.stdout as NodeJS.ReadableStream, 'data'))).toBe('locked\n');
  return child;
};

it('a lock admits one caller at a time', async () => {
  const file = join(folder, 'turns');
  let [working, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++working);
    await new Promise((resolve) => setTimeout(resolve, 5));
    working--;
  };
  await Promise.all(Array.from({ length: 5 }, () => locked(file, work)));
  await expect(locked(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(most).toBe(1);
  expect(await locked(file, async () => 'free again')).toBe('free again');
});

it('an error names the process that holds the lock, which a kill releases', async () => {
  const file = join(folder, 'killed');
  const child = await hold(file);
  expect(tryLock(file)).toBeUndefined();
  expect(holderOf(file)).toContain(`process ${child.pid} on `);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const release = tryLock(file);
  expect(release).toBeDefined();
  release?.();
});

/** As root on Linux. */
const hasNamespaces = (): boolean => {
  try {
    execFileSync('unshare', ['-p', '-f', '--mount-proc', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('Locks between PID namespaces were not tested: unshare needs root on Linux.');
    return false;
  }
};

it.runIf(hasNamespaces())(
  'a lock also excludes a process of another PID namespace, as in two containers on a volume',
  async () => {
    const file = join(folder, 'namespaces');
    const child = await hold(file);
    const elsewhere = () =>
      promisify(execFile)('unshare', ['-p', '-f', '--mount-proc', process.execPath, ...node(file)]);
    expect((await elsewhere()).stdout).toBe('refused\n');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await elsewhere()).stdout).toBe('locked\n');
  },
);

it('an error names a file that is not a lock', async () => {
  const file = join(folder, 'other');
  await writeFile(file, 'something else, longer than a header of SQLite'.repeat(20));
  expect(() => tryLock(file)).toThrow(/other is not a lock .*Delete it/);
});
