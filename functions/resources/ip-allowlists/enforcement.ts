import type { Role } from '#api/permissions/granted.ts';
import type { CallerKind } from '#api/permissions/principal.ts';
import { isWithin } from './addresses.ts';
import { type IpAllowlist, listIpAllowlists } from './records.ts';

/**
 * Checks the address of a request against IP allowlists, only where a record that is read anyway shows that there are
 * any (flags.ts). Uses the connection's address from API Gateway (`requestContext.http.sourceIp`), because callers
 * can forge headers.
 */

/** Ranges that apply; undefined when no list applies. */
const rangesFor = (lists: IpAllowlist[], applies: (list: IpAllowlist) => boolean): string[] | undefined => {
  const ranges = lists
    .filter(applies)
    .flatMap((list) => list.ranges)
    .filter(({ enabled }) => enabled);
  return ranges.length > 0 ? ranges.map(({ range }) => range) : undefined;
};

const ofOrganization = ({ scope }: IpAllowlist): boolean => scope === 'organization';

/** Whether these lists restrict any request. A list without an enabled range restricts none. */
export const isEnforced = (lists: IpAllowlist[]): boolean =>
  rangesFor(lists, (list) => list.scope !== 'selected_agent_pools' || list.agentPoolIds.length > 0) !== undefined;

/** Like {@link permitsCaller}, with loaded lists. */
export const permits = (lists: IpAllowlist[], address: string | undefined): boolean => {
  const ranges = rangesFor(lists, ofOrganization);
  return ranges === undefined || isWithin(address, ranges);
};

/**
 * Owners are exempt, so that no list locks an organization out (HCP Terraform: IP allowlists, exceptions). Tokens of
 * their team are not exempt.
 */
export const isExempt = (role: Role, kind: CallerKind): boolean =>
  role === 'owner' && (kind === 'user' || kind === 'session');

/** Checks users, teams and organization tokens. 1 read. */
export const permitsCaller = async (organization: string, address: string | undefined): Promise<boolean> =>
  permits(await listIpAllowlists(organization), address);

/** Checks agents of a pool: the address has to be in one of the lists that apply to the pool. 1 read. */
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
