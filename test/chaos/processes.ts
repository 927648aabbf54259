import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

interface Found {
  pid: string;
  command: string;
  /** It waits to become a task's (infra/local/spare-process.ts). */
  waits: boolean;
}

const inFolder = (tasks: string): Found[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const folder = readlinkSync(`/proc/${pid}/cwd`);
        if (!folder.startsWith(tasks)) return [];
        return [{ pid, command, waits: command.includes('/await-task.mjs') && !existsSync(`${folder}.json`) }];
      } catch {
        // Gone meanwhile.
        return [];
      }
    });

/** What runs on in a platform's folders, though no runner does. One process may wait for the next task. */
export const leftovers = (dataDir: string): string[] => {
  const found = inFolder(join(dataDir, 'tasks'));
  const isOneMore = found.filter(({ waits }) => waits).length > 1;
  return found.filter(({ waits }) => !waits || isOneMore).map(({ pid, command }) => `process ${pid} runs: ${command}`);
};
