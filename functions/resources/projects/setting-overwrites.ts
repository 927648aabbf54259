import { unprocessable } from '#api/errors.ts';

/** Whether a project or workspace has its own execution mode or inherits it (HCP API: setting-overwrites). */

const at = '/data/attributes/setting-overwrites';

/**
 * Execution mode and agent pool are inherited together or not at all.
 * @returns undefined when the request does not mention them
 * @throws {ApiError} 422 when the two differ
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
      // Clients match these words.
      `If ${pool.replace(/^default-/, '')} and ${mode.replace(/^default-/, '')} are both included in setting-overwrites, their values must be the same.`,
    );
  }
  return ofMode ?? ofPool ?? undefined;
};

/**
 * An inherited setting accepts only the inherited value, which clients send back in whole documents.
 * @param unsaid value that clients send to mean "not set"
 * @throws {ApiError} 422
 */
export const checkFollows = (name: string, value: string | null | undefined, above: string, unsaid?: string): void => {
  if (value === undefined || value === null || value === above || value === unsaid) return;
  throw unprocessable(
    `${at}/${name}`,
    `${name}: false in setting-overwrites means the inherited value ${above}, but the attribute is ${value}; remove one of them`,
  );
};
