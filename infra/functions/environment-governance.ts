import type { Declaration } from '#infra/stack/declaration.ts';

/** This function's routes of the environments' API (infra/stack/environment-api.ts). */
export const environmentGovernanceRoutes = [
  'ANY /metrics',
  'ANY /api/v2/audit',
  'ANY /api/v2/groups/{proxy+}',
  'ANY /api/v2/prebuilds/{proxy+}',
  'ANY /api/v2/organizations/{organization}/groups',
  'ANY /api/v2/organizations/{organization}/groups/{proxy+}',
  'ANY /api/v2/organizations/{organization}/members/{user}/workspace-quota',
];

export const EnvironmentGovernance: Declaration = {
  entry: 'functions/environments/governance-handler.ts',
  description: "Quotas, settings of prebuilt pools, audit list and metrics of environments (Coder's API)",
  timeoutSeconds: 29,
  environment: ['table', 'requestLimit', 'environments'],
  rights: (may) => [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'), may.key('Decrypt')],
};
