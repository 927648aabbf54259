import { policyKinds } from '../run/policies.ts';
import { runStatuses } from '../run/status.ts';
import { badRequest } from './errors.ts';
import { parseIncludes } from './include.ts';

/**
 * Every query parameter that a route knows, in one place: what is not here is refused by name, because whoever asks for
 * it would take the answer for what it is not. Only what is no option of any route, by its form and its name, is let
 * through: go-tfe sends names of its own fields (`TagBindings`, `SubscribableChoice[Workspace][Name]`). `page[number]` and `page[size]` are taken everywhere: clients send them
 * with whatever they read. A test holds the table against what the routes read.
 */

/** Any text, which the route looks into; one of these words; or several of them, with commas; or paths to include. */
type Rule = 'text' | { one: readonly string[] } | { some: readonly string[] } | { paths: readonly string[] };

const flag: Rule = { one: ['true', 'false'] };
const include = { include: 'text' } as const satisfies Record<string, Rule>;
/** What a request that writes may include is known before it writes: a refusal leaves nothing changed. */
const included = (...paths: string[]) => ({ include: { paths } }) as const satisfies Record<string, Rule>;
const kind = { 'filter[kind]': { one: policyKinds } } as const satisfies Record<string, Rule>;
const membershipStatus: Rule = { some: ['active', 'invited', 'inactive'] };
const searched = { q: 'text' } as const satisfies Record<string, Rule>;
const sorted = { sort: 'text' } as const satisfies Record<string, Rule>;
const token: Record<string, Rule> = { token: 'text' };

const ofRuns: Record<string, Rule> = {
  ...include,
  'search[basic]': 'text',
  'search[commit]': 'text',
  'search[user]': 'text',
  'filter[operation]': 'text',
  'filter[source]': {
    some: ['tfe-api', 'tfe-ui', 'tfe-configuration-version', 'tfe-run-trigger', 'terraform', 'terraform+cloud'],
  },
  'filter[status]': 'text',
  'filter[status_group]': 'text',
  'filter[timeframe]': 'text',
  'filter[workspace_names]': 'text',
  'filter[agent_pool_names]': 'text',
};

const ofVariableSets = included('vars', 'workspaces', 'projects', 'stacks');
const ofPolicySets = included(
  'policies',
  'workspaces',
  'projects',
  'current_version',
  'newest_version',
  'workspace_exclusions',
  'project_exclusions',
);

/** `*` in brackets is any number or name there. */
const parameters: Record<string, Record<string, Rule>> = {
  'GET /organizations': { ...searched, 'q[name]': 'text', 'q[email]': 'text', ...include },
  'GET /organizations/{organization}': include,
  'GET /organizations/{organization}/authentication-token': token,
  'POST /organizations/{organization}/authentication-token': token,
  'DELETE /organizations/{organization}/authentication-token': token,
  'GET /organizations/{organization}/organization-memberships': {
    ...include,
    ...searched,
    'filter[status]': membershipStatus,
    'filter[email]': 'text',
  },
  'POST /organizations/{organization}/organization-memberships': included(
    'user',
    'teams',
    'organization',
    'scim_identity',
  ),
  'GET /organization-memberships': { ...include, 'filter[status]': membershipStatus },
  'GET /organization-memberships/{membership}': include,
  'GET /organization/audit-trail': { since: 'text', ...sorted, 'filter[organization][name]': 'text' },

  'GET /organizations/{organization}/teams': { ...include, ...searched, 'filter[names]': 'text' },
  'GET /teams/{team}': include,
  'PATCH /teams/{team}': included('users', 'organization_memberships'),
  'POST /organizations/{organization}/teams': included('users', 'organization_memberships'),
  'GET /teams/{team}/relationships/organization-memberships': {
    'filter[status]': membershipStatus,
    sort: { one: ['status', '-status'] },
  },
  'GET /organizations/{organization}/team-tokens': {
    ...searched,
    sort: { one: ['expired-at', '-expired-at'] },
    'filter[expiry_status]': 'text',
  },
  'GET /team-workspaces': { 'filter[workspace][id]': 'text', 'filter[team][id]': 'text' },
  'GET /team-projects': { 'filter[project][id]': 'text', 'filter[team][id]': 'text' },

  'GET /organizations/{organization}/agent-pools': {
    ...include,
    ...searched,
    ...sorted,
    'filter[allowed-workspaces][name]': 'text',
    'filter[allowed_workspaces][name]': 'text',
    'filter[allowed-projects][name]': 'text',
    'filter[allowed_projects][name]': 'text',
  },
  'GET /agent-pools/{pool}': include,
  'PATCH /agent-pools/{pool}': included('workspaces', 'hyok_configurations'),
  'POST /organizations/{organization}/agent-pools': included('workspaces', 'hyok_configurations'),
  'GET /agent-pools/{pool}/agents': { 'filter[last-ping-since]': 'text', ...sorted },

  'GET /organizations/{organization}/oauth-clients': include,
  'GET /oauth-clients/{oauthClient}': include,
  'PATCH /oauth-clients/{oauthClient}': included('oauth_tokens', 'projects'),
  'POST /organizations/{organization}/oauth-clients': included('oauth_tokens', 'projects'),
  'GET /organizations/{organization}/oauth-tokens': { 'filter[provider]': 'text' },
  'GET /organizations/{organization}/vcs-events': {
    'filter[from]': 'text',
    'filter[to]': 'text',
    'filter[levels]': { some: ['info', 'error'] },
    'filter[oauth_client_external_ids]': 'text',
  },
  'GET /organizations/{organization}/vcs/repo': { oauth_token_id: 'text', identifier: 'text' },
  'GET /organizations/{organization}/vcs/branches': { oauth_token_id: 'text', identifier: 'text' },

  'GET /organizations/{organization}/projects': {
    ...include,
    ...searched,
    'filter[names]': 'text',
    sort: { one: ['name', '-name'] },
  },
  'GET /projects/{project}': include,

  'GET /organizations/{organization}/workspaces': {
    ...include,
    ...sorted,
    'search[name]': 'text',
    'search[wildcard-name]': 'text',
    'search[tags]': 'text',
    'search[exclude-tags]': 'text',
    'filter[project][id]': 'text',
    'filter[current-run][status]': { some: runStatuses },
    'filter[tagged]': 'text',
    'filter[tagged][*][key]': 'text',
    'filter[tagged][*][value]': 'text',
    'filter[tag-union]': flag,
    'filter[tag-value-default-null]': flag,
  },
  'GET /organizations/{organization}/workspaces/{name}': include,
  'GET /workspaces/{workspace}': include,
  'GET /workspaces/{workspace}/resources': { ...searched, ...sorted },
  'GET /workspaces/{workspace}/relationships/tags': { name: 'text' },
  'GET /workspaces/{workspace}/relationships/remote-state-consumers': { show_only_configured: flag },
  'GET /workspaces/{workspace}/run-triggers': { ...include, 'filter[run-trigger][type]': 'text' },
  'GET /run-triggers/{trigger}': include,

  'GET /organizations/{organization}/varsets': {
    ...include,
    ...searched,
    scope: { one: ['owned'] },
    'filter[global]': flag,
  },
  'GET /projects/{project}/varsets': {
    ...include,
    ...searched,
    scope: { one: ['applied', 'shared', 'owned', 'all'] },
  },
  'GET /workspaces/{workspace}/varsets': { ...include, ...searched },
  'GET /workspaces/{workspace}/applicable-varsets': { ...include, ...searched },
  'GET /varsets/{varset}': include,
  'PATCH /varsets/{varset}': ofVariableSets,
  'POST /varsets/{varset}': ofVariableSets,
  'POST /organizations/{organization}/varsets': ofVariableSets,

  'GET /workspaces/{workspace}/configuration-versions': include,
  'GET /configuration-versions/{version}': include,
  'GET /runs': { ...ofRuns, workspace_id: 'text', organization_name: 'text' },
  'GET /runs/{run}': include,
  'GET /workspaces/{workspace}/runs': ofRuns,
  'GET /organizations/{organization}/runs': ofRuns,
  'GET /runs/{run}/run-events': include,
  'GET /run-events/{event}': include,
  'GET /runs/{run}/task-stages': include,
  'GET /task-stages/{stage}': include,
  'GET /runs/{run}/policy-checks': include,
  'GET /policy-checks/{check}': include,
  'GET /policy-evaluations/{evaluation}/policy-set-outcomes': {
    'filter[*][status]': 'text',
    'filter[*][enforcement_level]': 'text',
    'filter[*][enforcement-level]': 'text',
    'filter[*][enforcementLevel]': 'text',
  },

  'GET /state-versions': {
    ...include,
    'filter[organization][name]': 'text',
    'filter[workspace][name]': 'text',
    'filter[status]': {
      one: ['pending', 'finalized', 'discarded', 'backing_data_soft_deleted', 'backing_data_permanently_deleted'],
    },
  },
  'GET /state-versions/{version}': include,
  'GET /workspaces/{workspace}/current-state-version': include,

  'GET /organizations/{organization}/policies': {
    'search[name]': 'text',
    ...kind,
    sort: { one: ['name', '-name', 'updated-at', '-updated-at'] },
  },
  'GET /organizations/{organization}/policy-sets': {
    ...include,
    'search[name]': 'text',
    ...kind,
    'filter[versioned]': flag,
  },
  'GET /policy-sets/{policySet}': include,
  'PATCH /policy-sets/{policySet}': ofPolicySets,
  'POST /organizations/{organization}/policy-sets': ofPolicySets,
  'GET /organizations/{organization}/tasks': include,
  'GET /tasks/{task}': include,
  'PATCH /tasks/{task}': included('workspace_tasks', 'workspace_tasks.workspace'),
  'POST /organizations/{organization}/tasks': included('workspace_tasks', 'workspace_tasks.workspace'),
  'GET /workspaces/{workspace}/tasks': include,
};

const paging: Record<string, Rule> = { 'page[number]': 'text', 'page[size]': 'text' };

/** `filter[tagged][0][key]` → `filter[tagged][*][key]`, and `filter[0][status]` → `filter[*][status]`. */
const generic = (name: string, rules: Record<string, Rule>): string =>
  name in rules ? name : name.replace(/\[[^[\]]*\](?=\[[^[\]]*\]$)/, '[*]');

const ruleOf = (name: string, rules: Record<string, Rule>): Rule | undefined =>
  Object.hasOwn(rules, generic(name, rules)) ? rules[generic(name, rules)] : undefined;

/** What some route knows. */
const options = new Set(Object.values(parameters).flatMap(Object.keys));
const isOption = (name: string): boolean => !/^[A-Z]/.test(name) && (name.includes('[') || options.has(name));

/** Those that are in the table, for the test that holds it against the routes. */
export const queryParameters: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(parameters).map(([target, rules]) => [target, Object.keys(rules)]),
);

const unknown = (name: string, rules: Record<string, Rule>) => {
  const names = Object.keys(rules);
  const shown = name.slice(0, 100);
  // Clients look for these words.
  const what =
    name === 'include'
      ? 'Invalid include parameter: nothing can be included in this response.'
      : `Unknown query parameter ${shown}.`;
  return badRequest(`${what} Known: ${[...names, ...Object.keys(paging)].join(', ')}.`, shown);
};

const checkValue = (name: string, value: string, rule: Rule): void => {
  if (rule === 'text') return;
  if ('paths' in rule) {
    parseIncludes(value, rule.paths);
    return;
  }
  const values = 'one' in rule ? rule.one : rule.some;
  const given = 'one' in rule ? [value] : value.split(',').map((word) => word.trim());
  if (given.every((word) => word === '' || values.includes(word))) return;
  const words = 'one' in rule ? 'must be one of' : 'must be a comma-separated list of';
  throw badRequest(`${name} ${words} ${values.join(', ')}.`, name);
};

/**
 * What is asked for is known, each once. One without a value asks for nothing.
 * @param path of the route, below the API's prefix
 * @throws {ApiError} 400 that names the parameter
 */
export const checkParameters = (method: string, path: string, query: URLSearchParams): void => {
  if (query.size === 0) return;
  const rules = parameters[`${method} ${path}`] ?? {};
  const seen = new Set<string>();
  for (const [name, value] of query) {
    if (value === '') continue;
    const rule = ruleOf(name, rules) ?? (Object.hasOwn(paging, name) ? paging[name] : undefined);
    if (rule === undefined && !isOption(name)) continue;
    if (rule === undefined) throw unknown(name, rules);
    if (seen.has(name))
      throw badRequest(`${name.slice(0, 100)} is set more than once. Send it once.`, name.slice(0, 100));
    seen.add(name);
    checkValue(name, value, rule);
  }
};
