import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, join } from 'node:path';

/**
 * Control groups that bound a run's processes and memory, where this program may make them: both versions of the kernel's
 * interface (cgroups(7)). In most containers there are none to be had; limits of users and processes (limits.ts) hold there.
 */

/** Threads and processes of one room. */
export const maxTasks = 4096;

/** What this machine has, or what the group of this program may use, whose processes the new groups' are not. */
export const memoryBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

const root = '/sys/fs/cgroup';
const parent = 'stepform';

interface Group {
  above: string;
  controllers?: string;
  limits: Record<string, string>;
  /** Of all rooms: their processes alone are ended when these are reached, however they have set their own score. */
  together?: Record<string, string>;
}

/** Folders of the groups' own hierarchies, and what is written there. */
const wanted = (): Group[] => {
  const memory = String(Math.floor((memoryBytes() * 3) / 4));
  if (existsSync(join(root, 'cgroup.controllers')))
    return [
      {
        above: root,
        controllers: '+pids +memory',
        limits: { 'pids.max': String(maxTasks), 'memory.max': memory },
        together: { 'memory.max': memory },
      },
    ];
  return [
    { above: join(root, 'pids'), limits: { 'pids.max': String(maxTasks) } },
    {
      above: join(root, 'memory'),
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

/** Those of a run that has ended: the kernel keeps groups that have processes. */
export const removeControlGroups = (runFolder: string): void => {
  for (const { above } of wanted()) remove(join(above, parent, basename(runFolder)));
};

const remove = (folder: string): void => {
  try {
    rmdirSync(folder);
  } catch {
    // Not there, or in use.
  }
};

/** Processes enter by writing 0 to `cgroup.procs` of each folder. @param runFolder whose name is the groups' */
export const makeControlGroups = (runFolder: string): string[] =>
  wanted().flatMap((one) => make(basename(runFolder), one) ?? []);
