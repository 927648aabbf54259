import { inOrganization, param } from '#api/finders.ts';
import type { Finder, Subject } from '#api/route.ts';
import {
  type CidrRange,
  type IpAllowlist,
  listIpAllowlists,
  organizationOfList,
  organizationOfRange,
} from './records.ts';

/** A list as the subject of a route, with its organization's other lists. */
export interface InLists extends Subject {
  id: string;
  list: IpAllowlist;
}

export interface InList extends InLists {
  range: CidrRange;
}

export const ipAllowlist: Finder<InLists> = {
  what: 'IP allowlist',
  parameter: 'cidrRangeList',
  find: async (request) => {
    const id = param(request, 'cidrRangeList');
    const home = await organizationOfList(id);
    const list = home && (await listIpAllowlists(home.organization)).find((candidate) => candidate.id === id);
    return list && { id, organization: home.organization, list };
  },
  visibleWith: 'ip-allowlist:read',
  scope: inOrganization,
};

export const cidrRange: Finder<InList> = {
  what: 'CIDR range',
  parameter: 'cidrRange',
  find: async (request) => {
    const id = param(request, 'cidrRange');
    const home = await organizationOfRange(id);
    for (const list of home ? await listIpAllowlists(home.organization) : []) {
      const range = list.ranges.find((candidate) => candidate.id === id);
      if (home && range) return { id, organization: home.organization, list, range };
    }
    return undefined;
  },
  visibleWith: 'ip-allowlist:read',
  scope: inOrganization,
};
