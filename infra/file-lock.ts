import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const patienceMs = 120_000;
const pollMs = 25;

/**
 * Runs `work` while no other process of this machine holds the file; what a process that died has left is taken over.
 * @throws {Error} that names the holder when it does not come free within two minutes
 */
export const locked = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  await mkdir(dirname(file), { recursive: true });
  const deadline = Date.now() + patienceMs;
  const own = `${file}.${randomUUID()}`;
  await writeFile(own, String(process.pid));
  try {
    await waitFor(file, own, deadline);
  } finally {
    await rm(own, { force: true });
  }
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
};

const waitFor = async (file: string, own: string, deadline: number): Promise<void> => {
  while (!(await take(file, own))) {
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (holder && !isAlive(holder)) await rm(file, { force: true });
    else if (Date.now() > deadline)
      throw new Error(`${file} is held by process ${holder || 'unknown'}; delete it if nothing is being built`);
    else await delay(pollMs);
  }
};

/** With its holder in it from the first moment: one that was killed before it wrote that would hold it for good. */
const take = async (file: string, own: string): Promise<boolean> => {
  try {
    await link(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
