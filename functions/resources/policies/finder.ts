import { byId, inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getPolicy } from './records.ts';
import { getPolicySet } from './set-records.ts';
import { getPolicySetVersion, type PolicySetVersion } from './set-version-records.ts';

export const policy = byId({ what: 'policy', parameter: 'policy', get: getPolicy, visibleWith: 'policy:read' });

export const policySet = byId({
  what: 'policy set',
  parameter: 'policySet',
  get: getPolicySet,
  visibleWith: 'policy:read',
});

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
