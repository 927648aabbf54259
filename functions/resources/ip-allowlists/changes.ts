import { conflict, deletedMeanwhile, nameTaken, outdated, unprocessable } from '#api/errors.ts';
import { checkIfMatch } from '#api/guard.ts';
import { nameOf } from '#api/naming.ts';
import type { Call } from '#api/route.ts';
import { now } from '#platform/store/time.ts';
import { getAgentPools } from '#resources/agents/pools/records.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { rangeKey, readRange } from './addresses.ts';
import { isEnforced, isExempt, permits } from './enforcement.ts';
import { forgetEverywhere, noteEverywhere } from './flags.ts';
import { changeIpAllowlists, type IpAllowlist, maxLists, maxRanges } from './records.ts';

/** Checks and enforcement that every change of an organization's IP allowlists needs. */

type Lists = IpAllowlist[];

const lockedOut = (address: string | undefined) =>
  unprocessable(
    '/data',
    `With this change the IP allowlist of the organization would refuse the address of this request, ${address ?? 'which is unknown'}. Add a range with it first, or have an owner of the organization make the change: owners are never locked out`,
  );

/** Checks limits and names across all lists of an organization. @throws {ApiError} 422 */
const checkAll = (lists: Lists): void => {
  if (lists.length > maxLists) {
    throw unprocessable('/data', `An organization can have ${maxLists} IP allowlists. Delete one first`);
  }
  const ranges = lists.reduce((sum, list) => sum + list.ranges.length, 0);
  if (ranges > maxRanges) {
    throw unprocessable('/data', `The IP allowlists of an organization can have ${maxRanges} ranges. Delete one first`);
  }
  const names = lists.map(({ name }) => name.toLowerCase());
  if (new Set(names).size < names.length) throw nameTaken();
  const [first, another] = lists.filter(({ scope }) => scope === 'organization');
  if (first && another) {
    throw unprocessable(
      '/data/attributes/enforcement-scope',
      `enforcement-scope: only one IP allowlist can apply to the organization, and ${first.name} already does. Add the ranges there, or change its scope first`,
    );
  }
};

/** Rejects equal ranges in different notations. @throws {ApiError} 422 */
const checkRanges = ({ ranges }: IpAllowlist): void => {
  const written = ranges.map(({ range }) => {
    const read = readRange(range);
    return typeof read === 'string' ? range : rangeKey(read);
  });
  if (new Set(written).size < written.length) {
    throw unprocessable('/data/attributes/range', 'Range has already been taken');
  }
};

/** @throws {ApiError} 422 */
const checkPools = ({ scope, agentPoolIds }: IpAllowlist): void => {
  if (scope === 'selected_agent_pools' || agentPoolIds.length === 0) return;
  throw unprocessable(
    '/data/relationships/agent-pools',
    `agent-pools: can be assigned only if enforcement-scope is selected_agent_pools; it is ${scope}`,
  );
};

/** Checks that the pools belong to the organization. @throws {ApiError} 422 */
export const checkOwnPools = async (organization: string, ids: string[]): Promise<void> => {
  const own = new Set(await livingPools(organization, ids));
  const foreign = ids.findIndex((id) => !own.has(id));
  if (foreign >= 0) {
    throw unprocessable(`/data/${foreign}/id`, `id: agent pool ${ids[foreign]} not found in ${nameOf(organization)}`);
  }
};

/** Ids of existing pools. No read for an empty list. */
export const livingPools = async (organization: string, ids: string[]): Promise<string[]> =>
  (await getAgentPools(ids)).filter((pool) => pool.organization === organization).map(({ id }) => id);

/**
 * Makes a change that is enforced as soon as it is written.
 * @throws {ApiError} 409, 422, or an error of the change
 */
export const changeLists = async (
  { request, principal }: Call,
  organization: string,
  change: (lists: Lists) => Lists,
): Promise<Lists> => {
  const [home, { role }] = await Promise.all([getOrganization(organization), principal.standing(organization)]);
  if (!home || !role) throw deletedMeanwhile('organization');
  const isOwner = isExempt(role, principal.kind === 'user' ? 'user' : 'team');
  const changed = await changeIpAllowlists(
    organization,
    (before) => {
      const after = change(before);
      checkAll(after);
      if (!isOwner && !permits(after, request.address)) throw lockedOut(request.address);
      return after;
    },
    async ({ before, after, version }) => {
      if (isEnforced(after) && !isEnforced(before)) await noteEverywhere(home, version);
    },
  );
  if (!changed) throw conflict('IP allowlists were changed by other requests at the same time. Try again.');
  const { before, after, version } = changed;
  if (isEnforced(before) && !isEnforced(after)) await forgetEverywhere(home, version);
  return after;
};

/** Changes one list. @throws {ApiError} 404, 409, 412 or 422 */
export const changeList = async (
  call: Call,
  { organization, list }: { organization: string; list: IpAllowlist },
  change: (list: IpAllowlist) => Partial<IpAllowlist>,
): Promise<IpAllowlist> => {
  await checkIfMatch(call.request, list, 'IP allowlist');
  const { userId } = call.principal;
  const lists = await changeLists(call, organization, (all) => {
    const current = all.find(({ id }) => id === list.id);
    if (!current) throw deletedMeanwhile('IP allowlist');
    if (call.request.header('if-match') !== undefined && current.edits !== list.edits) throw outdated('IP allowlist');
    const at = now();
    const changed = {
      ...current,
      ...change(current),
      updatedAt: at,
      edits: current.edits + 1,
      edited: { by: userId, at },
    };
    checkPools(changed);
    checkRanges(changed);
    return all.map((item) => (item.id === list.id ? changed : item));
  });
  return lists.find(({ id }) => id === list.id) as IpAllowlist;
};

/** @throws {ApiError} 422 */
export const addList = async (call: Call, organization: string, list: IpAllowlist): Promise<void> => {
  checkPools(list);
  await changeLists(call, organization, (all) => [...all, list]);
};
