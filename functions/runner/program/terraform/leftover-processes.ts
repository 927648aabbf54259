import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { help } from './launch.ts';
import type { Owner } from './owner.ts';

/**
 * Ends processes that a phase has left running, on machines without rooms (room.ts). A process that left its group
 * and session (`setsid`) and whose parent has ended is found by its user or, if Terraform has no user of its own, by
 * the mark in its environment.
 */

interface Whose {
  owner: Owner | undefined;
  mark: string | undefined;
}

/** How long to wait for processes to end. */
const patienceMs = 5000;
const firstPauseMs = 2;
const pauseGrowth = 1.5;
/** Consecutive scans that must find no process, in case processes are being started at the same time. */
const sureLooks = 3;
const helperMs = 1000;

const processes = (): string[] => readdirSync('/proc').filter((name) => name.charCodeAt(0) <= 57 && /^\d+$/.test(name));

/** Id of the process that started last (proc(5): loadavg). */
const lastStarted = (): string => readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1) as string;

const isAlive = (status: string): boolean => !/^State:\s+[ZX]/m.test(status);

const statusOf = (pid: string): string => readFileSync(`/proc/${pid}/status`, 'latin1');

/** Real, effective, saved and file system user ids. */
const usersIn = (status: string): number[] => (/^Uid:(.*)$/m.exec(status)?.[1]?.trim().split('\t') ?? []).map(Number);

/** Ids of a user's processes that have not ended. */
export const processesOf = ({ uid }: Owner): string[] =>
  processes().filter((pid) => {
    try {
      const status = statusOf(pid);
      return isAlive(status) && usersIn(status).includes(uid);
    } catch {
      // Ended meanwhile, or another user's.
      return false;
    }
  });

const isMarked = (pid: string, mark: string | undefined): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`STEPFORM_JOB=${mark}`);
  } catch {
    // Ended meanwhile, or another user's.
    return false;
  }
};

/**
 * Kills all processes of a user at once, as that user, so that none can start another one meanwhile. Checks the user
 * id first: as root this would kill all processes of the machine.
 */
const killAll = ({ uid, gid }: Owner): Promise<unknown> =>
  help('/bin/sh', ['-c', `[ "$(id -u)" = ${uid} ] && kill -KILL -1`], { uid, gid, timeout: helperMs }).catch(() => {});

const kill = (pid: string): void => {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // Ended meanwhile.
  }
};

const leftoversOf = ({ owner, mark }: Whose): string[] =>
  owner ? processesOf(owner) : processes().filter((pid) => pid !== String(process.pid) && isMarked(pid, mark));

/** @returns whether no other process is left, as far as this system can detect */
export const endProcesses = async (whose: Whose): Promise<boolean> => {
  if (process.platform !== 'linux') return true;
  const end = Date.now() + patienceMs;
  let looks = 0;
  let kills = 0;
  for (let pause = firstPauseMs; Date.now() < end; pause *= pauseGrowth) {
    const before = lastStarted();
    const leftovers = leftoversOf(whose);
    if (leftovers.length === 0) {
      looks += 1;
      if (looks >= sureLooks || lastStarted() === before) return true;
      continue;
    }
    looks = 0;
    for (const pid of leftovers) kill(pid);
    // A dying process has ended by the next scan; one that keeps forking has not.
    if (whose.owner && kills++ > 0) await killAll(whose.owner);
    await sleep(pause);
  }
  return false;
};
