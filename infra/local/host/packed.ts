import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Shorter texts lose little by it. */
const minLength = 500;

/** As a row contains it: a longer text is deflated, to less than half, which takes some 30 µs, and 10 to read. */
export const packed = (text: string): string | Uint8Array => (text.length < minLength ? text : deflateRawSync(text));

export const unpacked = (stored: string | Uint8Array): string =>
  typeof stored === 'string' ? stored : inflateRawSync(stored).toString();
