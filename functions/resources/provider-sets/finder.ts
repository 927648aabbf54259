import { inOrganization, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { findProviderSet, getProviderSet, type ProviderSet } from './records.ts';

export const providerSet: Finder<ProviderSet> = {
  what: 'provider set',
  parameter: 'providerSet',
  find: (request) => getProviderSet(param(request, 'providerSet')),
  visibleWith: 'provider-set:read',
  scope: inOrganization,
};

export const providerSetByName: Finder<ProviderSet> = {
  ...providerSet,
  parameter: 'providerSetName',
  find: (request) => findProviderSet(param(request, 'organization'), param(request, 'providerSetName')),
};
