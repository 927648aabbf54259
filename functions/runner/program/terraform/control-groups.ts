import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, join } from 'node:path';

/**
 * Control groups that limit a run's processes and memory, if this program may create them: both versions of the
 * kernel's interface (cgroups(7)). Most containers allow none; limits of users and processes (limits.ts) apply there.
 */

/** Maximum of threads and processes in one room. */
export const maxTasks = 4096;

/** Memory of this machine, or the limit of this program's own group, which does not apply to the new groups. */
export const memoryBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

const root = '/sys/fs/cgroup';
const parent = 'stepform';

interface Group {
  above: string;
  /** File through which a process enters the group. */
  entry: string;
  controllers?: string;
  limits: Record<string, string>;
  /**
   * Limits of all rooms together. When they are reached, the kernel ends only processes of rooms, even if those
   * changed their own OOM score.
   */
  together?: Record<string, string>;
}

/** Folders of the groups' hierarchies, and the limits to write there. */
const wanted = (): Group[] => {
  const memory = String(Math.floor((memoryBytes() * 3) / 4));
  if (existsSync(join(root, 'cgroup.controllers')))
    return [
      {
        above: root,
        entry: 'cgroup.procs',
        controllers: '+pids +memory',
        limits: { 'pids.max': String(maxTasks), 'memory.max': memory },
        together: { 'memory.max': memory },
      },
    ];
  return [
    // A write to `cgroup.procs` waits some 10 ms for a grace period of the kernel (RCU), because it moves all threads of a
    // process. One to `tasks` moves a single thread, and the shell that enters the group has no other.
    { above: join(root, 'pids'), entry: 'tasks', limits: { 'pids.max': String(maxTasks) } },
    {
      above: join(root, 'memory'),
      entry: 'tasks',
      limits: { 'memory.limit_in_bytes': memory },
      together: { 'memory.limit_in_bytes': memory },
    },
  ];
};

const make = (name: string, { above, controllers, limits, together = {} }: Group): string | undefined => {
  if (!existsSync(join(above, 'cgroup.procs'))) return undefined;
  const all = join(above, parent);
  const own = join(all, name);
  try {
    mkdirSync(all, { recursive: true });
    if (controllers) for (const folder of [above, all]) enable(folder, controllers);
    write(all, together);
    mkdirSync(own, { recursive: true });
    write(own, limits);
    return own;
  } catch {
    // Read-only or delegated to another program.
    remove(own);
    return undefined;
  }
};

const write = (folder: string, limits: Record<string, string>): void => {
  for (const [file, value] of Object.entries(limits)) writeFileSync(join(folder, file), value);
};

const enable = (folder: string, controllers: string): void => {
  const file = join(folder, 'cgroup.subtree_control');
  const enabled = readFileSync(file, 'latin1').trim().split(' ');
  if (controllers.split(' ').every((controller) => enabled.includes(controller.slice(1)))) return;
  writeFileSync(file, controllers);
};

/** Removes the groups of a run that has ended. The kernel keeps groups that still have processes. */
export const removeControlGroups = (runFolder: string): void => {
  for (const { above } of wanted()) remove(join(above, parent, basename(runFolder)));
};

const remove = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Missing, or in use.
  }
};

/**
 * @param runFolder its name becomes the groups' name
 * @returns paths of files: a process without threads enters the groups by writing 0 to each
 */
export const makeControlGroups = (runFolder: string): string[] =>
  wanted().flatMap((one) => {
    const folder = make(basename(runFolder), one);
    return folder === undefined ? [] : join(folder, one.entry);
  });
