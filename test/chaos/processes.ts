import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

interface Found {
  pid: string;
  command: string;
}

const inFolder = (tasks: string): Found[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const folder = readlinkSync(`/proc/${pid}/cwd`);
        if (!folder.startsWith(tasks)) return [];
        return [{ pid, command }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });

/** Processes that remain in a platform's folders after the end of all runners. */
export const leftovers = (dataDir: string): string[] =>
  inFolder(join(dataDir, 'tasks')).map(({ pid, command }) => `process ${pid} runs: ${command}`);
