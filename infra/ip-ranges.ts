import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import * as v from 'valibot';
import { readCidr } from '../functions/outbound/addresses.ts';
import { texts } from './text-list.ts';

/** Ranges of addresses in settings, and those that `/api/meta/ip-ranges` answers. */

export const ranges = v.pipe(
  texts,
  v.check(
    (all) => all.every((range) => readCidr(range) !== undefined),
    'must be ranges of addresses, e.g. 10.1.0.0/16',
  ),
);

export const ipRangeEntries = {
  /** Ranges of addresses that the API is reached at, and that it calls from. */
  apiIpRanges: v.optional(ranges),
  outgoingIpRanges: v.optional(ranges),
};

/** The platform on one machine listens there only. */
const loopback = ['127.0.0.1/32', '::1/128'];

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => `${address}/${isIPv6(address) ? 128 : 32}`);

/**
 * The variables of functions on one machine: what the operator says, else the machine's own addresses.
 * @throws {Error} that names the variable
 */
export const localIpRangeVariables = (
  environment: NodeJS.ProcessEnv,
): Record<'API_IP_RANGES' | 'OUTGOING_IP_RANGES', string> => {
  const read = (name: string, whenUnset: () => string[]): string => {
    const text = environment[name];
    if (!text) return whenUnset().join(',');
    const { success, output, issues = [] } = v.safeParse(ranges, text);
    if (!success) throw new Error(`${name} ${issues[0]?.message} (it is ${text})`);
    return output.join(',');
  };
  return {
    API_IP_RANGES: read('STEPFORM_API_IP_RANGES', () => loopback),
    OUTGOING_IP_RANGES: read('STEPFORM_OUTGOING_IP_RANGES', () => [...loopback, ...ownAddresses()]),
  };
};
