import * as v from 'valibot';
import { readCidr } from '#platform/net/outbound/addresses.ts';
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

/** On one machine the platform listens there only. Addresses of the machine's networks are nobody's business: anybody may ask. */
const loopback = '127.0.0.1/32,::1/128';

/**
 * The variables of functions on one machine: what the operator says, else loopback.
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
