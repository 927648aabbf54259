import type { Bill, Values } from '../bill.ts';

/** Finds the resource of a type that an attribute or block of the present one refers to, as it is on the same side. */
export type Related = (attribute: string, type: string) => Values | undefined;

/**
 * Writes the bill of a resource of one type, before or after.
 * @throws {UnpricedError} when its price cannot be known
 */
export type Pricer = (values: Values, bill: Bill, related: Related) => void;
