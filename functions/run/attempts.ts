/**
 * An attempt of a waiting state. When an attempt fails, the state machine retries with a new token. A late write of the
 * failed attempt must not replace the new token, so each token is written with its attempt, unless a later attempt has
 * written.
 */
export interface Attempt {
  /** Step Functions task token; never leaves the platform. */
  token: string;
  /** When the state was entered, and the number of the attempt since then (Step Functions: context object). */
  entered?: string;
  attempt?: number;
}

/** Sorts attempts by time; undefined in executions of older state machines, which do not pass the attempt. */
export const orderOf = ({ entered, attempt = 0 }: Attempt): string | undefined =>
  entered && `${entered}#${String(attempt).padStart(4, '0')}`;

/** The condition that no later attempt was written; `path` holds the order of the last one. */
export const notSuperseded = (
  path: string,
  order: string | undefined,
): { condition?: string; values: Record<string, unknown> } =>
  order
    ? { condition: `(attribute_not_exists(${path}) OR ${path} <= :order)`, values: { ':order': order } }
    : { values: {} };
