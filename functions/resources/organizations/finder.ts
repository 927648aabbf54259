import { inOrganization, param } from '#api/finders.ts';
import type { Finder, Subject } from '#api/route.ts';
import { getOrganization, type Organization } from './records.ts';

export interface InOrganization extends Subject {
  record: Organization;
}

export const organization: Finder<InOrganization> = {
  what: 'organization',
  parameter: 'organization',
  find: async (request) => {
    const record = await getOrganization(param(request, 'organization'));
    return record && { organization: record.name, record };
  },
  visibleWith: 'organization:read',
  scope: inOrganization,
};

/** Terraform reads the entitlements of its organization before anything else. */
export const entitledOrganization: Finder<InOrganization> = {
  ...organization,
  visibleWith: 'organization:read-entitlements',
  shared: async ({ organization: name }) => ({ organization: name }),
};
