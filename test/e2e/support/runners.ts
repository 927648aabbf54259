import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task } from '../../../infra/local/ecs-task.ts';
import { isAlive, signal } from '../../../infra/local/processes.ts';

/** The runners of a platform, also of one that was killed: it writes down what it starts. */

export type Runner = Task & { process: NonNullable<Task['process']> };

export const runners = (dataDir: string): Runner[] => {
  const folder = join(dataDir, 'tasks');
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as Task];
      } catch {
        // Killed while it was written.
        return [];
      }
    })
    .filter((task): task is Runner => task.process !== undefined && isAlive(task.process));
};

export const send = ({ process }: Runner, name: NodeJS.Signals, whole: 'process' | 'group' = 'group'): void =>
  signal(process, name, whole);
