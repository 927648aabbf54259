import { type Route, versioned } from '#api/route.ts';
import { policyRoutes } from '#resources/policies/routes.ts';
import { policySetRoutes } from '#resources/policies/set-routes.ts';
import { policySetVersionRoutes } from '#resources/policies/set-version-routes.ts';
import { tagSelectorRoutes } from '#resources/policies/tag-selector-routes.ts';
import {
  abandonPolicySetRepo,
  connectPolicySet,
  leavePolicySetRepo,
  preparePolicySetRepo,
  settlePolicySet,
} from '#version-control/policy-set-repo.ts';

/** Routes of the function Policies: policies and policy sets. */
export const allPolicyRoutes: Route[] = versioned([
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
]);
