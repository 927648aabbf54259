import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '#infra/local/host/processes.ts';
import type { Task } from './ecs-task.ts';

export type Runner = Task & { process: NonNullable<Task['process']> };

/** The runners at work for a data folder, also when its platform is not: it writes down what it starts. */
export const runnersOf = (dataDir: string): Runner[] => {
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
