import { placeOf } from './members.ts';

/**
 * Changes the serial of a state and keeps every other byte: parsing in JavaScript would round large numbers, such as
 * 64-bit ids of providers.
 */

/** @param content a valid state */
export const withSerial = (content: Buffer, serial: number): Buffer<ArrayBuffer> => {
  const value = placeOf(content, 'serial');
  if (!value) throw new Error('the state has no serial');
  return Buffer.concat([content.subarray(0, value.from), Buffer.from(` ${serial}`), content.subarray(value.to)]);
};
