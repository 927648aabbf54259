/**
 * Writes tar files (POSIX.1-2024 pax: ustar, pax for long names). Works without Node, because the page packs folders
 * too.
 */

export interface Entry {
  /** Relative, with `/`. */
  path: string;
  bytes: Uint8Array;
}

const block = 512;
const encoder = new TextEncoder();

const header = (path: Uint8Array, size: number, type: '0' | 'x'): Uint8Array => {
  const bytes = new Uint8Array(block);
  const put = (at: number, text: string) => bytes.set(encoder.encode(text), at);
  const octal = (n: number, digits: number) => n.toString(8).padStart(digits, '0');
  bytes.set(path.subarray(0, 100), 0);
  put(100, `${octal(0o644, 7)}\0`);
  put(108, `${octal(0, 7)}\0`);
  put(116, `${octal(0, 7)}\0`);
  put(124, `${octal(size, 11)}\0`);
  put(136, `${octal(0, 11)}\0`);
  put(148, ' '.repeat(8));
  put(156, type);
  put(257, 'ustar\x0000');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(148, `${octal(sum, 6)}\0 `);
  return bytes;
};

const padded = (bytes: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(Math.ceil(bytes.length / block) * block);
  whole.set(bytes);
  return whole;
};

/** `27 path=…\n`: a record begins with its own length. */
const paxRecord = (path: string): Uint8Array => {
  const rest = encoder.encode(` path=${path}\n`).length;
  let length = rest + 1;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return encoder.encode(`${length} path=${path}\n`);
};

export const tarBlocks = (entries: Entry[]): Uint8Array[] => {
  const parts: Uint8Array[] = [];
  for (const { path, bytes } of entries) {
    const name = encoder.encode(path);
    if (name.length > 100) {
      const record = paxRecord(path);
      parts.push(header(encoder.encode('pax'), record.length, 'x'), padded(record));
    }
    parts.push(header(name, bytes.length, '0'), padded(bytes));
  }
  return [...parts, new Uint8Array(2 * block)];
};
