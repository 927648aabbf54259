import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getPolicy, type Policy } from './records.ts';
import { getPolicySet, type PolicySet } from './set-records.ts';
import { getPolicySetVersion, type PolicySetVersion } from './set-version-records.ts';

export const policy: Finder<Policy> = {
  what: 'policy',
  parameter: 'policy',
  find: (request) => getPolicy(param(request, 'policy')),
  visibleWith: 'policy:read',
  scope: inOrganization,
};

export const policySet: Finder<PolicySet> = {
  what: 'policy set',
  parameter: 'policySet',
  find: (request) => getPolicySet(param(request, 'policySet')),
  visibleWith: 'policy:read',
  scope: inOrganization,
};

/** Versions are deleted with their policy set. */
export const policySetVersion: Finder<PolicySetVersion> = {
  what: 'policy set version',
  parameter: 'policySetVersion',
  find: async (request) => {
    const version = await getPolicySetVersion(param(request, 'policySetVersion'));
    return version && (await getPolicySet(version.policySetId)) ? version : undefined;
  },
  visibleWith: 'policy:read',
  scope: inOrganization,
};
