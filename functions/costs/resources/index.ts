import type { Bill, Values } from '../bill.ts';
import { compute } from './compute.ts';
import { containers } from './containers.ts';
import { databases } from './databases.ts';
import { flat } from './flat.ts';
import { network } from './network.ts';
import { serverless } from './serverless.ts';

/** Finds the resource of a type that an attribute or block of the present one refers to, as it is on the same side. */
export type Related = (attribute: string, type: string) => Values | undefined;

/**
 * Writes the bill of a resource of one type, before or after.
 * @throws {UnpricedError} when its price cannot be known
 */
export type Pricer = (values: Values, bill: Bill, related: Related) => void;

/** What is sold by the hour or the month; everything else is free.ts's or unknown. */
export const pricers: ReadonlyMap<string, Pricer> = new Map(
  Object.entries({ ...compute, ...containers, ...databases, ...network, ...serverless, ...flat }),
);
