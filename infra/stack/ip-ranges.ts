import * as v from 'valibot';
import { readCidr } from '#platform/net/outbound/addresses.ts';
import { texts } from './text-list.ts';

/** Settings that are ranges of addresses, and the ranges that `/api/meta/ip-ranges` returns. */

export const ranges = v.pipe(
  texts,
  v.check(
    (all) => all.every((range) => readCidr(range) !== undefined),
    'must be ranges of addresses, e.g. 10.1.0.0/16',
  ),
);

export const ipRangeEntries = {
  /** Ranges of the addresses of the API, and of its outgoing requests. */
  apiIpRanges: v.optional(ranges),
  outgoingIpRanges: v.optional(ranges),
};

/**
 * The platform listens only on loopback on one machine. The response is public, so it contains no addresses of the
 * machine's networks.
 */
const loopback = '127.0.0.1/32,::1/128';

/**
 * The variables of functions on one machine: the operator's values, otherwise loopback.
 * @throws {Error} that names the variable
 */
export const localIpRangeVariables = (
  environment: NodeJS.ProcessEnv,
): Record<'API_IP_RANGES' | 'OUTGOING_IP_RANGES', string> => {
  const read = (name: string): string => {
    const text = environment[name];
    if (!text) return loopback;
    const { success, output, issues = [] } = v.safeParse(ranges, text);
    if (!success) throw new Error(`${name} ${issues[0]?.message} (it is ${text})`);
    return output.join(',');
  };
  return {
    API_IP_RANGES: read('STEPFORM_API_IP_RANGES'),
    OUTGOING_IP_RANGES: read('STEPFORM_OUTGOING_IP_RANGES'),
  };
};
