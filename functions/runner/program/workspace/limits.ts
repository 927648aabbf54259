/** The largest files that the runner takes from foreign code, in bytes. It reads them whole: these are what Node can. */

/** A string of Node's has at most 2^29 characters, and a state is parsed. */
export const maxState = 2 ** 29;
export const maxPlan = 2 ** 29;
export const maxGenerated = 2 ** 26;
export const maxLockFile = 2 ** 22;
