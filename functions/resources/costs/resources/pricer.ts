import type { Bill, Values } from '../bill.ts';

/**
 * Finds the resource of the given type to which an attribute or block refers, on the same side (before or after the
 * run).
 */
export type Related = (attribute: string, type: string) => Values | undefined;

/**
 * Writes the bill of a resource of one type, before or after the run.
 * @throws {UnpricedError} when its price cannot be determined
 */
export type Pricer = (values: Values, bill: Bill, related: Related) => void;
