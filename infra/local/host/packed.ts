import { deflateRawSync, inflateRawSync } from 'node:zlib';

/**
 * Shorter texts stay as they are: zlib takes 30 µs to write and 10 to read, and memory for each call. The items that the
 * creation of a run reads and writes are shorter.
 */
const minLength = 1700;

/** As a row contains it: a longer text is deflated, to less than half. */
export const packed = (text: string): string | Uint8Array => (text.length < minLength ? text : deflateRawSync(text));

export const unpacked = (stored: string | Uint8Array): string =>
  typeof stored === 'string' ? stored : inflateRawSync(stored).toString();
