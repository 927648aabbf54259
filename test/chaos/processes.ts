import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What runs on in a platform's folders, though no runner does. */
export const leftovers = (dataDir: string): string[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(join(dataDir, 'tasks'))
          ? [`process ${pid} runs: ${command}`]
          : [];
      } catch {
        // Gone meanwhile.
        return [];
      }
    });
