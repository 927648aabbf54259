import { unprocessable } from '#api/errors.ts';

/** Whether something has an execution mode of its own, or follows what is above it (HCP API: setting-overwrites). */

const at = '/data/attributes/setting-overwrites';

/**
 * The mode and its agent pool follow together, or not at all.
 * @returns undefined when nothing is said
 * @throws {ApiError} 422 when they are to part
 */
export const overwriteIn = <M extends string, P extends string>(
  overwrites: Partial<Record<M | P, boolean | null>> | null | undefined,
  mode: M,
  pool: P,
): boolean | undefined => {
  const [ofMode, ofPool] = [overwrites?.[mode], overwrites?.[pool]];
  if (typeof ofMode === 'boolean' && typeof ofPool === 'boolean' && ofMode !== ofPool) {
    throw unprocessable(
      `${at}/${pool}`,
      // Clients look for these words.
      `If ${pool.replace(/^default-/, '')} and ${mode.replace(/^default-/, '')} are both included in setting-overwrites, their values must be the same.`,
    );
  }
  return ofMode ?? ofPool ?? undefined;
};

/**
 * What follows cannot be given as well, unless it is what it follows: then a whole document was sent back.
 * @param unsaid what clients send that have nothing to say
 * @throws {ApiError} 422
 */
export const checkFollows = (name: string, value: string | null | undefined, above: string, unsaid?: string): void => {
  if (value === undefined || value === null || value === above || value === unsaid) return;
  throw unprocessable(
    `${at}/${name}`,
    `${name}: false in setting-overwrites means the inherited value ${above}, but the attribute is ${value}; remove one of them`,
  );
};
