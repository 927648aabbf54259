/** Which function answers which path of the HTTP API. Tests of the public API go by this too, so it imports nothing. */

export type Target = 'Api' | 'Governance' | 'Logs' | 'Runner' | 'Web';

/** Below `/api/v2`. The most specific path wins (HTTP APIs: routing); what is none of these is for `Api`. */
const governance = [
  'organizations/{organization}/varsets',
  'projects/{project}/varsets',
  'workspaces/{workspace}/varsets',
  'workspaces/{workspace}/varsets/{proxy+}',
  'workspaces/{workspace}/applicable-varsets',
  'varsets/{proxy+}',
  'organizations/{organization}/tasks',
  'tasks/{proxy+}',
  'workspaces/{workspace}/tasks',
  'workspaces/{workspace}/tasks/{wstask}',
  'runs/{run}/task-stages',
  'task-stages/{proxy+}',
  'task-results/{proxy+}',
  'task-result-outcomes/{proxy+}',
  'organizations/{organization}/policies',
  'policies/{proxy+}',
  'organizations/{organization}/policy-sets',
  'policy-sets/{proxy+}',
  'policy-set-versions/{proxy+}',
  'runs/{run}/policy-checks',
  'policy-checks/{proxy+}',
  'policy-evaluations/{proxy+}',
  'policy-set-outcomes/{proxy+}',
  'cost-estimates/{proxy+}',
];

export const apiRoutes: { key: string; target: Target }[] = [
  { key: 'ANY /api/v2/{proxy+}', target: 'Api' },
  ...governance.map((path) => ({ key: `ANY /api/v2/${path}`, target: 'Governance' as const })),
  { key: 'GET /.well-known/{proxy+}', target: 'Api' },
  { key: 'ANY /oauth/{proxy+}', target: 'Api' },
  { key: 'GET /logs/{proxy+}', target: 'Logs' },
  { key: 'ANY /runner/v1/{proxy+}', target: 'Runner' },
  { key: 'GET /', target: 'Web' },
  { key: 'GET /app', target: 'Web' },
  { key: 'GET /app/{proxy+}', target: 'Web' },
];
