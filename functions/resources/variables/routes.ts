import { type Route, route } from '#api/route.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import { variableSet } from './finder.ts';
import { updateSome, variablesOf } from './owned.ts';

/** Paths of variables in workspaces and in variable sets. */

export const variableRoutes: Route[] = [
  ...variablesOf('/workspaces/{workspace}/vars', workspace, ['variable:read', 'variable:write']),
  route('PATCH', '/workspaces/{workspace}/relationships/vars', 'variable:write', workspace, updateSome),
];

export const variableOfSetRoutes: Route[] = variablesOf('/varsets/{varset}/relationships/vars', variableSet, [
  'varset:read',
  'varset:write',
]);
