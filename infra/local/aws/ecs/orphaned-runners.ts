import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '#infra/local/host/processes.ts';
import type { Task } from './ecs-task.ts';

export type Runner = Task & { process: NonNullable<Task['process']> };

/** The running runners of a data folder, even without a platform: the platform records each one that it starts. */
export const runnersOf = (dataDir: string): Runner[] => {
  const folder = join(dataDir, 'tasks');
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as Task];
      } catch {
        // The platform was killed while it wrote the file.
        return [];
      }
    })
    .filter((task): task is Runner => task.process !== undefined && isAlive(task.process));
};
