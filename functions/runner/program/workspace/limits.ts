/**
 * Maximum sizes, in bytes, of files that the runner reads from folders of foreign code. It reads them completely, so
 * Node's limits apply.
 */

/** A string has at most 2^29 characters in Node, and states are parsed from a string. */
export const maxState = 2 ** 29;
export const maxPlan = 2 ** 29;
export const maxGenerated = 2 ** 26;
export const maxLockFile = 2 ** 22;
