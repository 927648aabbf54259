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
/** Consecutive scans that must find no process, where not all can be killed at once. */
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

/** The check of the id starts no process, because the user may have as many as allowed. */
const killAllAsUser = `while read -r name real rest; do [ "$name" = Uid: ] && break; done </proc/self/status
[ "$real" = "$1" ] || exit 1
kill -KILL -1
exit 0`;

/**
 * Kills all processes of a user at once, as that user, so that none can start another one meanwhile (kill(2): -1 means
 * all; the kernel starts no process of a parent that is being killed). Checks the user id first: as root this would
 * kill all processes of the machine.
 */
const killAtOnce = ({ uid, gid }: Owner): Promise<boolean> =>
  help('/bin/sh', ['-c', killAllAsUser, 'sh', String(uid)], { uid, gid, timeout: helperMs }).then(
    () => true,
    () => false,
  );

const kill = (pid: string): void => {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // Ended meanwhile.
  }
};

const leftoversOf = ({ owner, mark }: Whose): string[] =>
  owner ? processesOf(owner) : processes().filter((pid) => pid !== String(process.pid) && isMarked(pid, mark));

/**
 * Whether two scans find nothing and no process was started meanwhile. A process that was being started at the first
 * scan, by one that has ended since, is in the second.
 */
const isQuiet = (whose: Whose): boolean => {
  const before = lastStarted();
  return leftoversOf(whose).length === 0 && leftoversOf(whose).length === 0 && lastStarted() === before;
};

/**
 * @returns whether no other process is left. Without a user of its own, a chain of processes that each start the next
 * and end may be missed.
 */
export const endProcesses = async (whose: Whose): Promise<boolean> => {
  if (process.platform !== 'linux' || isQuiet(whose)) return true;
  const { owner } = whose;
  const end = Date.now() + patienceMs;
  let areKilled = false;
  let looks = 0;
  for (let pause = firstPauseMs; Date.now() < end; pause *= pauseGrowth) {
    areKilled ||= owner !== undefined && (await killAtOnce(owner));
    const leftovers = leftoversOf(whose);
    looks = leftovers.length === 0 ? looks + 1 : 0;
    if (looks > 0 && (areKilled || (!owner && looks >= sureLooks))) return true;
    for (const pid of leftovers) kill(pid);
    await sleep(pause);
  }
  return false;
};
