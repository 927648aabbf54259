import { param } from '#api/finders.ts';
import type { Finder } from '#api/route.ts';
import { getVariableSet, type VariableSet } from './set-records.ts';

export const variableSet: Finder<VariableSet> = {
  what: 'variable set',
  parameter: 'varset',
  find: (request) => getVariableSet(param(request, 'varset')),
  visibleWith: 'varset:read',
  scope: (variableSet) => ({ organization: variableSet.organization, variableSet }),
};
