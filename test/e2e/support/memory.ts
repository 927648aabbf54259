import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const maxRegion = 256 * 2 ** 20;

/** Claims of the tasks that a runner has performed, the one at work among them, as root finds them in its memory on Linux. */
export const claimsIn = (pid: number): string[] => {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return readFileSync(`/proc/${pid}/maps`, 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
        const length = Number.parseInt(to, 16) - Number.parseInt(from, 16);
        if (!(length > 0 && length <= maxRegion)) return [];
        const bytes = Buffer.alloc(length);
        try {
          readSync(memory, bytes, 0, length, BigInt(`0x${from}`));
        } catch {
          // The memory was released meanwhile.
          return [];
        }
        const claims = bytes.toString('latin1').matchAll(/STEPFORM_CLAIM(?:=|":")([\w.-]+)/g);
        return [...claims].map(([, claim = '']) => claim);
      });
  } finally {
    closeSync(memory);
  }
};
