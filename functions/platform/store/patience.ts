/**
 * How long a call to AWS waits for a byte. Four attempts fit into the 29 s of a function behind the API; without a limit,
 * one dead connection would use them up.
 */
export const idleMs = 6000;

/** For clients of the SDK, which has no limits by default. */
export const requestHandler = { connectionTimeout: 2000, socketTimeout: idleMs };
