import { placeOf } from './members.ts';

/**
 * A state under another serial, and byte for byte the same otherwise: JavaScript would round numbers of providers that are
 * larger than its own, such as ids of 64 bits.
 */

/** @param content a valid state */
export const withSerial = (content: Buffer, serial: number): Buffer<ArrayBuffer> => {
  const value = placeOf(content, 'serial');
  if (!value) throw new Error('the state has no serial');
  return Buffer.concat([content.subarray(0, value.from), Buffer.from(` ${serial}`), content.subarray(value.to)]);
};
