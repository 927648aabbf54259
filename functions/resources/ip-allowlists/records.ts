import { setTimeout as sleep } from 'node:timers/promises';
import { putNext } from '#platform/store/edits.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, remove } from '#platform/store/table.ts';

/**
 * IP allowlists of an organization (HCP API: IP allowlists), all in one item, so that one read loads and one write
 * changes them.
 */

export type EnforcementScope = 'organization' | 'all_agent_pools' | 'selected_agent_pools';

export interface CidrRange {
  id: string;
  /** CIDR notation, as entered. */
  range: string;
  description: string | null;
  enabled: boolean;
  updatedAt: string;
}

export interface IpAllowlist {
  id: string;
  name: string;
  description: string | null;
  scope: EnforcementScope;
  /** Only with `selected_agent_pools`. */
  agentPoolIds: string[];
  ranges: CidrRange[];
  createdAt: string;
  updatedAt: string;
  edits: number;
  edited?: { by: string; at: string };
}

interface Item {
  /** Incremented by each change. */
  version: number;
  lists: IpAllowlist[];
}

/** With names and descriptions of maximum length, the item stays below DynamoDB's limit of 400 KB. */
export const maxLists = 25;
export const maxRanges = 300;

const read = async (organization: string): Promise<Item> =>
  (await get<Item>(keys.ipAllowlists(organization))) ?? { version: 0, lists: [] };

/** In order of creation. 1 read. */
export const listIpAllowlists = async (organization: string): Promise<IpAllowlist[]> =>
  (await read(organization)).lists;

/** The organization of a list or range, by its id; the list or range may have been deleted since. 1 read. */
export const organizationOfList = (id: string): Promise<{ organization: string } | undefined> =>
  get<{ organization: string }>(keys.ipAllowlist(id));
export const organizationOfRange = (id: string): Promise<{ organization: string } | undefined> =>
  get<{ organization: string }>(keys.cidrRange(id));

/** Writes the pointer by id before the list or range. */
export const indexList = (organization: string, id: string): Promise<boolean> =>
  create({ ...keys.ipAllowlist(id), organization });
export const indexRange = (organization: string, id: string): Promise<boolean> =>
  create({ ...keys.cidrRange(id), organization });

/** Terraform creates ten ranges in parallel. */
const attempts = 15;
const pauseMs = 20;

export interface Changed {
  before: IpAllowlist[];
  after: IpAllowlist[];
  /** Version of the lists after the change. */
  version: number;
}

/**
 * Changes the lists with one conditional write.
 * @param change runs again after a concurrent change
 * @param prepare runs before the write
 * @returns undefined when every attempt met a concurrent change
 */
export const changeIpAllowlists = async (
  organization: string,
  change: (lists: IpAllowlist[]) => IpAllowlist[],
  prepare: (changed: Changed) => Promise<void>,
): Promise<Changed | undefined> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { version: current, lists: before } = await read(organization);
    const changed = { before, after: change(before), version: current + 1 };
    await prepare(changed);
    if (await putNext(keys.ipAllowlists(organization), { version: current, lists: changed.after })) return changed;
    await sleep(Math.random() * pauseMs * (attempt + 1));
  }
  return undefined;
};

/** Deletes the lists and their pointers together with an organization. Can be repeated. */
export const deleteIpAllowlists = async (organization: string): Promise<void> => {
  const lists = await listIpAllowlists(organization);
  await removePointers(lists);
  await remove(keys.ipAllowlists(organization));
};

export const removePointers = async (lists: Pick<IpAllowlist, 'id' | 'ranges'>[]): Promise<void> => {
  for (const { id, ranges } of lists) {
    await removeRangePointers(ranges);
    await remove(keys.ipAllowlist(id));
  }
};

export const removeRangePointers = async (ranges: Pick<CidrRange, 'id'>[]): Promise<void> => {
  for (const { id } of ranges) await remove(keys.cidrRange(id));
};
