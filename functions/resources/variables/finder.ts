import { byId } from '#api/finders.ts';
import { getVariableSet } from './set-records.ts';

export const variableSet = byId({
  what: 'variable set',
  parameter: 'varset',
  get: getVariableSet,
  visibleWith: 'varset:read',
  scope: (variableSet) => ({ organization: variableSet.organization, variableSet }),
});
