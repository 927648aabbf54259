import { compute } from './compute.ts';
import { containers } from './containers.ts';
import { databases } from './databases.ts';
import { flat } from './flat.ts';
import { network } from './network.ts';
import type { Pricer } from './pricer.ts';
import { serverless } from './serverless.ts';

/** Types priced by the hour or the month; all others are in free.ts or unknown. */
export const pricers: ReadonlyMap<string, Pricer> = new Map(
  Object.entries({ ...compute, ...containers, ...databases, ...network, ...serverless, ...flat }),
);
