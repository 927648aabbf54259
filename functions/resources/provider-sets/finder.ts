import { byId, param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { findProviderSet, getProviderSet, type ProviderSet } from './records.ts';

export const providerSet = byId({
  what: 'provider set',
  parameter: 'providerSet',
  get: getProviderSet,
  visibleWith: 'provider-set:read',
});

export const providerSetByName: Finder<ProviderSet> = {
  ...providerSet,
  parameter: 'providerSetName',
  find: (request) => findProviderSet(param(request, 'organization'), param(request, 'providerSetName')),
};
