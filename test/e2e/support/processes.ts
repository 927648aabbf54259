import { readdirSync, readFileSync } from 'node:fs';

interface Process {
  pid: number;
  parent: number;
  group: number;
  command: string;
}

const all = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(name), parent: Number(parent), group: Number(group), command }];
      } catch {
        return [];
      }
    });

/** All processes that a process has started, directly or indirectly. */
export const descendants = (pid: number): Process[] => {
  const processes = all();
  const descendants: Process[] = [];
  for (let parents = [pid]; parents.length; ) {
    const children = processes.filter(({ parent }) => parents.includes(parent));
    descendants.push(...children);
    parents = children.map((child) => child.pid);
  }
  return descendants;
};

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

export const killAll = (processes: Process[]): void => {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended.
    }
  }
};
