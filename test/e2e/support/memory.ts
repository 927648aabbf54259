import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const maxRegion = 256 * 2 ** 20;

/** Contents of a process's memory, read as root on Linux: the first group of each match. @param pattern global */
export const inMemory = (pid: number, pattern: RegExp): string[] => {
  const file = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return readFileSync(`/proc/${pid}/maps`, 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
        const length = Number.parseInt(to, 16) - Number.parseInt(from, 16);
        if (!(length > 0 && length <= maxRegion)) return [];
        const bytes = Buffer.alloc(length);
        try {
          readSync(file, bytes, 0, length, BigInt(`0x${from}`));
        } catch {
          // The memory was released meanwhile.
          return [];
        }
        return [...bytes.toString('latin1').matchAll(pattern)].map(([, group = '']) => group);
      });
  } finally {
    closeSync(file);
  }
};

/** Claims of all tasks that a runner has received, including the current one. */
export const claimsIn = (pid: number): string[] => inMemory(pid, /STEPFORM_CLAIM(?:=|":")([\w.-]+)/g);
