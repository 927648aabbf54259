/**
 * An attempt of a state that waits. When one fails, the machine makes another with a token of its own; what the failed
 * one had under way may still be written after that, and must not put the token that nobody waits for in place of the
 * other. So every token is written with its attempt, and never over that of a later one.
 */
export interface Attempt {
  /** Step Functions task token; kept by the platform, told to nobody. */
  token: string;
  /** When the state was entered, and which attempt this is since then (Step Functions: context object). */
  entered?: string;
  attempt?: number;
}

/** Sorts like the attempts of a run did; undefined in executions that began before machines told. */
export const orderOf = ({ entered, attempt = 0 }: Attempt): string | undefined =>
  entered && `${entered}#${String(attempt).padStart(4, '0')}`;

/** The condition under which an attempt may be written where `path` has the order of the one before. */
export const notSuperseded = (
  path: string,
  order: string | undefined,
): { condition?: string; values: Record<string, unknown> } =>
  order
    ? { condition: `(attribute_not_exists(${path}) OR ${path} <= :order)`, values: { ':order': order } }
    : { values: {} };
