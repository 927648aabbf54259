import type { Role } from '#api/permissions/granted.ts';
import type { CallerKind } from '#api/permissions/principal.ts';
import { isWithin } from './addresses.ts';
import { type IpAllowlist, listIpAllowlists } from './records.ts';

/**
 * Whether a request may come from where it does. Asked only where a record that is read anyway says that there are
 * allowlists (flags.ts). The address is the connection's own, as API Gateway says it (`requestContext.http.sourceIp`): headers are the
 * caller's to write.
 */

/** What of the lists decides for one place; undefined: nothing is enforced there. */
const rangesFor = (lists: IpAllowlist[], applies: (list: IpAllowlist) => boolean): string[] | undefined => {
  const ranges = lists
    .filter(applies)
    .flatMap((list) => list.ranges)
    .filter(({ enabled }) => enabled);
  return ranges.length > 0 ? ranges.map(({ range }) => range) : undefined;
};

const ofOrganization = ({ scope }: IpAllowlist): boolean => scope === 'organization';

/** Whether any request is checked by these. A list without an enabled range restricts nobody. */
export const isEnforced = (lists: IpAllowlist[]): boolean =>
  rangesFor(lists, (list) => list.scope !== 'selected_agent_pools' || list.agentPoolIds.length > 0) !== undefined;

/** As {@link permitsCaller}, by these lists. */
export const permits = (lists: IpAllowlist[], address: string | undefined): boolean => {
  const ranges = rangesFor(lists, ofOrganization);
  return ranges === undefined || isWithin(address, ranges);
};

/** Owners get in from everywhere, so that no list locks an organization out (HCP Terraform: IP allowlists, exceptions). Tokens of their team do not. */
export const isExempt = (role: Role, kind: CallerKind): boolean =>
  role === 'owner' && (kind === 'user' || kind === 'session');

/** People, teams and the organization's token. 1 read. */
export const permitsCaller = async (organization: string, address: string | undefined): Promise<boolean> =>
  permits(await listIpAllowlists(organization), address);

/** Agents of a pool: an address in any of the lists that apply to it. 1 read. */
export const permitsAgent = async (
  organization: string,
  poolId: string,
  address: string | undefined,
): Promise<boolean> => {
  const ranges = rangesFor(
    await listIpAllowlists(organization),
    ({ scope, agentPoolIds }) =>
      scope === 'all_agent_pools' || (scope === 'selected_agent_pools' && agentPoolIds.includes(poolId)),
  );
  return ranges === undefined || isWithin(address, ranges);
};
