import type { Route } from '#api/route.ts';
import { moduleByAddress } from '#resources/registry/modules/finder.ts';
import { variablesOf } from '#resources/variables/owned.ts';
import { ofModule } from './routes.ts';

/** Environment variables of a module's tests (HCP API: test variables). */
export const testVariableRoutes: Route[] = variablesOf(`${ofModule}/vars`, moduleByAddress, [
  'registry:write-modules',
  'registry:write-modules',
]);
