import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from './owner.ts';

/**
 * Ends processes that a phase has left running. One that has left its group and session (`setsid`) and whose parent has
 * ended is found by its user or, if Terraform has no user of its own, by the mark in its environment.
 */

interface Whose {
  owner: Owner | undefined;
  mark: string | undefined;
}

/** How long processes may take to die. */
const patienceMs = 5000;
const firstPauseMs = 2;
const pauseGrowth = 1.5;
/** Consecutive scans that must find nothing, in case processes are being started at the same time. */
const sureLooks = 3;
const helperMs = 1000;
/** How often each process is killed by itself before those that wait are killed with the others: some 40 ms. */
const kindTries = 6;

const processes = (): string[] => readdirSync('/proc').filter((name) => name.charCodeAt(0) <= 57 && /^\d+$/.test(name));

/** Id of the process that was started last (proc(5): loadavg). */
const lastStarted = (): string => readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1) as string;

const isAlive = (status: string): boolean => !/^State:\s+[ZX]/m.test(status);

const statusOf = (pid: string): string => readFileSync(`/proc/${pid}/status`, 'latin1');

/** Real, effective and saved user, and that of its files. */
const usersIn = (status: string): number[] => (/^Uid:(.*)$/m.exec(status)?.[1]?.trim().split('\t') ?? []).map(Number);

interface Seen {
  /** The kernel makes an entry in /proc anew for each process, so it tells those apart that had the same id. */
  entry: string;
  users: number[];
}

/** By process id. Of root's alone each is read once: other users' can become a run's by a program that has its user's id set. */
let seen = new Map<string, Seen>();

/** @throws {Error} when it is gone */
const look = (pid: string): Seen => {
  // Before its status: if the id changes hands in between, the next look finds another entry.
  const { ino, ctimeMs } = statSync(`/proc/${pid}`);
  const entry = `${ino} ${ctimeMs}`;
  const known = seen.get(pid);
  if (known?.entry === entry && known.users.every((user) => user === 0)) return known;
  return { entry, users: usersIn(statusOf(pid)) };
};

const lookAtAll = (): Map<string, Seen> => {
  const found = new Map<string, Seen>();
  for (const pid of processes()) {
    try {
      found.set(pid, look(pid));
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
  seen = found;
  return found;
};

/** Ids of all users that have a process. */
export const busyUsers = (): Set<number> => new Set([...lookAtAll().values()].flatMap(({ users }) => users));

/** Ids of a user's processes that have not ended. */
const ownedBy = ({ uid }: Owner): string[] =>
  [...lookAtAll()].flatMap(([pid, { users }]) => (users.includes(uid) && isRunning(pid) ? [pid] : []));

const isRunning = (pid: string): boolean => {
  try {
    return isAlive(statusOf(pid));
  } catch {
    return false;
  }
};

const isMarked = (pid: string, mark: string | undefined): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`STEPFORM_JOB=${mark}`);
  } catch {
    // Gone meanwhile, or another user's.
    return false;
  }
};

/**
 * Kills all processes of a user at once, as that user: the kernel lets none of them start another one meanwhile. Checks
 * its user id first: as root this would take down the machine.
 */
const killAll = ({ uid, gid }: Owner): Promise<void> =>
  new Promise((resolve) => {
    const script = `[ "$(id -u)" = ${uid} ] && kill -KILL -1`;
    const env = { PATH: '/usr/bin:/bin' };
    const helper = spawn('/bin/sh', ['-c', script], { uid, gid, env, cwd: '/', stdio: 'ignore' });
    const timer = setTimeout(() => helper.kill('SIGKILL'), helperMs);
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    helper.once('error', finish).once('exit', finish);
  });

const kill = (pid: string): void => {
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // Gone meanwhile.
  }
};

const leftoversOf = ({ owner, mark }: Whose, spared: ReadonlySet<number>): string[] => {
  const found = owner
    ? ownedBy(owner)
    : processes().filter((pid) => pid !== String(process.pid) && isMarked(pid, mark));
  return spared.size === 0 ? found : found.filter((pid) => !spared.has(groupOf(pid)));
};

/** 0 when it is gone. The name before it may contain anything (proc(5): stat). */
const groupOf = (pid: string): number => {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(')').at(-1)?.trim().split(' ')[2]);
  } catch {
    return 0;
  }
};

/**
 * @param spared process groups with a session of their own, which others cannot enter; one that forks all the time takes them
 * along
 * @returns whether no other process is left, as far as this system can tell
 */
export const endProcesses = async (whose: Whose, spared: ReadonlySet<number> = new Set()): Promise<boolean> => {
  if (process.platform !== 'linux') return true;
  const end = Date.now() + patienceMs;
  let looks = 0;
  let kills = 0;
  for (let pause = firstPauseMs; Date.now() < end; pause *= pauseGrowth) {
    const before = lastStarted();
    const leftovers = leftoversOf(whose, spared);
    if (leftovers.length === 0) {
      looks += 1;
      if (looks >= sureLooks || lastStarted() === before) return true;
      continue;
    }
    looks = 0;
    for (const pid of leftovers) kill(pid);
    // A dying process is gone by the next scan; one that keeps forking is not.
    if (whose.owner && kills++ > (spared.size > 0 ? kindTries : 0)) await killAll(whose.owner);
    await sleep(pause);
  }
  return false;
};
