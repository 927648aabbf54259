import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { policyRoutes } from '#resources/policies/routes.ts';
import { policySetRoutes } from '#resources/policies/set-routes.ts';
import { policySetVersionRoutes } from '#resources/policies/set-version-routes.ts';
import { tagSelectorRoutes } from '#resources/policies/tag-selector-routes.ts';
import { toolVersionRoutes } from '#resources/policies/tool-versions/routes.ts';
import {
  abandonPolicySetRepo,
  connectPolicySet,
  leavePolicySetRepo,
  preparePolicySetRepo,
  settlePolicySet,
} from '#version-control/policy-set-repo.ts';
import { authority } from './authority.ts';

/** Policies, policy sets and versions of policy engines. */
export const routes: Route[] = versioned([
  ...policyRoutes,
  ...policySetRoutes({
    prepare: preparePolicySetRepo,
    connect: connectPolicySet,
    abandon: abandonPolicySetRepo,
    settle: settlePolicySet,
    leave: leavePolicySetRepo,
  }),
  ...policySetVersionRoutes,
  ...tagSelectorRoutes,
  ...toolVersionRoutes,
]);

export const handler = serve(routes, authority);
