/** Which function answers which path of the HTTP API. Tests of the public API go by this too, so it imports nothing. */

export type Target =
  | 'Api'
  | 'States'
  | 'Access'
  | 'SignIn'
  | 'Settings'
  | 'Governance'
  | 'Identity'
  | 'Logs'
  | 'Runner'
  | 'Agent'
  | 'Web';

/**
 * Functions of the public API beside `Api`, so that a request for a run waits for no code of theirs when a function
 * starts: paths below `/api/v2`, of any method where none is named. The most specific path wins (HTTP APIs: routing);
 * what is none of these is for `Api`.
 */
const apart = {
  States: [
    'state-versions',
    'state-versions/{proxy+}',
    'state-version-outputs/{proxy+}',
    'workspaces/{workspace}/actions/lock',
    'workspaces/{workspace}/actions/unlock',
    'workspaces/{workspace}/actions/force-unlock',
    'workspaces/{workspace}/state-versions',
    'workspaces/{workspace}/current-state-version',
    'workspaces/{workspace}/current-state-version-outputs',
    'workspaces/{workspace}/relationships/remote-state-consumers',
    'workspaces/{workspace}/resources',
    'plans/{plan}/actions/{proxy+}',
    'applies/{apply}/actions/{proxy+}',
  ],
  Access: [
    'account/{proxy+}',
    'users/{proxy+}',
    'authentication-tokens/{proxy+}',
    'organization/audit-trail',
    'organizations',
    'organizations/{organization}',
    'organizations/{organization}/authentication-token',
    'organizations/{organization}/team-tokens',
    'organizations/{organization}/projects',
    'projects/{proxy+}',
    'organizations/{organization}/organization-memberships',
    'organization-memberships',
    'organization-memberships/{proxy+}',
    'organizations/{organization}/teams',
    'teams/{proxy+}',
    'team-workspaces',
    'team-workspaces/{proxy+}',
    'team-projects',
    'team-projects/{proxy+}',
    'organizations/{organization}/agent-pools',
    'agent-pools/{proxy+}',
    'agents/{proxy+}',
  ],
  Settings: [
    'POST organizations/{organization}/workspaces',
    'PATCH organizations/{organization}/workspaces/{name}',
    'DELETE organizations/{organization}/workspaces/{name}',
    'organizations/{organization}/workspaces/{name}/actions/safe-delete',
    'PATCH workspaces/{workspace}',
    'DELETE workspaces/{workspace}',
    'workspaces/{workspace}/actions/safe-delete',
    'workspaces/{workspace}/vars',
    'workspaces/{workspace}/vars/{proxy+}',
    'workspaces/{workspace}/all-vars',
    'workspaces/{workspace}/relationships/vars',
    'organizations/{organization}/varsets',
    'projects/{project}/varsets',
    'workspaces/{workspace}/varsets',
    'workspaces/{workspace}/varsets/{proxy+}',
    'workspaces/{workspace}/applicable-varsets',
    'varsets/{proxy+}',
    'workspaces/{workspace}/tag-bindings',
    'workspaces/{workspace}/effective-tag-bindings',
    'workspaces/{workspace}/relationships/tag-bindings',
    'workspaces/{workspace}/relationships/tags',
    'workspaces/{workspace}/run-triggers',
    'run-triggers/{proxy+}',
    'workspaces/{workspace}/notification-configurations',
    'notification-configurations/{proxy+}',
  ],
  Governance: [
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
  ],
} satisfies Partial<Record<Target, string[]>>;

const keyOf = (path: string): string => {
  const [method, named] = path.includes(' ') ? path.split(' ') : ['ANY', path];
  return `${method} /api/v2/${named}`;
};

export const apiRoutes: { key: string; target: Target }[] = [
  { key: 'ANY /api/v2/{proxy+}', target: 'Api' },
  ...(Object.keys(apart) as (keyof typeof apart)[]).flatMap((target) =>
    apart[target].map((path) => ({ key: keyOf(path), target })),
  ),
  { key: 'GET /.well-known/{proxy+}', target: 'Api' },
  { key: 'GET /.well-known/openid-configuration', target: 'Identity' },
  { key: 'GET /.well-known/jwks', target: 'Identity' },
  { key: 'ANY /oauth/{proxy+}', target: 'SignIn' },
  { key: 'GET /logs/{proxy+}', target: 'Logs' },
  { key: 'ANY /runner/v1/{proxy+}', target: 'Runner' },
  { key: 'ANY /agent/v1/{proxy+}', target: 'Agent' },
  { key: 'GET /', target: 'Web' },
  { key: 'GET /app', target: 'Web' },
  { key: 'GET /app/{proxy+}', target: 'Web' },
];
