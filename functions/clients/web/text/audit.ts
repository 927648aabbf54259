import type { OrganizationView, Place, SingleView, Tab } from '#clients/client/page-addresses.ts';
import { csvOf } from '#platform/formats/csv.ts';

/** Display texts of audit trail events. */

/** An event in the API's format, which is not JSON:API (resources/audit/document.ts). */
export interface TrailEvent {
  id: string;
  /** UTC, ISO 8601. */
  timestamp: string;
  auth: { accessor_id: string; description: string | null };
  resource: {
    type: string;
    id: string | null;
    action: string;
    meta: {
      outcome: 'allowed' | 'refused' | 'failed';
      status?: number;
      token_kind?: string;
      token_id?: string;
      address?: string;
      user_agent?: string;
      /** Its name, if it still exists. */
      name?: string;
      workspace?: string;
      workspace_id?: string;
    };
  };
}

/** Workspace of the resource, if it has one that still exists. */
export const nameOf = ({ type, meta }: TrailEvent['resource']): string | undefined =>
  meta.name ?? (type === 'workspace' ? meta.workspace : undefined);

const columns: readonly (readonly [string, (event: TrailEvent) => string | number | null | undefined])[] = [
  ['timestamp', ({ timestamp }) => timestamp],
  ['actor', ({ auth }) => auth.description],
  ['actor_id', ({ auth }) => auth.accessor_id],
  ['resource', ({ resource }) => resource.type],
  ['resource_id', ({ resource }) => resource.id],
  ['resource_name', ({ resource }) => nameOf(resource)],
  ['action', ({ resource }) => resource.action],
  ['outcome', ({ resource }) => resource.meta.outcome],
  ['status', ({ resource }) => resource.meta.status],
  ['workspace', ({ resource }) => resource.meta.workspace],
  ['workspace_id', ({ resource }) => resource.meta.workspace_id],
  ['token_kind', ({ resource }) => resource.meta.token_kind],
  ['token_id', ({ resource }) => resource.meta.token_id],
  ['address', ({ resource }) => resource.meta.address],
  ['user_agent', ({ resource }) => resource.meta.user_agent],
];

/** With display names. */
export const csvOfTrail = (events: TrailEvent[]): string =>
  csvOf(
    columns.map(([name]) => name),
    events.map((event) => columns.map(([, value]) => value(event))),
  );

export const spaced = (text: string): string => text.replaceAll('_', ' ');

/** Display texts of actions: done, and not done. */
const verbs: Record<string, readonly [done: string, tried: string]> = {
  create: ['created', 'create'],
  update: ['changed', 'change'],
  destroy: ['deleted', 'delete'],
  show: ['read', 'read'],
};

/** Actions offered as filters, besides others that were seen. */
export const usualActions = ['create', 'update', 'destroy', 'show', 'apply', 'discard', 'cancel', 'lock', 'unlock'];

/** The action in the past tense: `created` for `create`. */
export const actionIn = (action: string): string =>
  (Object.hasOwn(verbs, action) ? verbs[action]?.[0] : undefined) ?? spaced(action);

export const usualTypes = ['workspace', 'run', 'var', 'varset', 'state_version', 'team', 'project', 'policy_set'];

/** `workspace: created`, or `workspace: create` for a refused or failed action; unknown actions keep their names. */
export const deedIn = ({ resource: { type, action, meta } }: TrailEvent): string => {
  const words = Object.hasOwn(verbs, action) ? verbs[action] : undefined;
  return `${spaced(type)}: ${words?.[meta.outcome === 'allowed' ? 0 : 1] ?? spaced(action)}`;
};

const kinds: Record<string, string> = {
  team: 'with a team token',
  organization: 'with the organization token',
  'audit-trails': 'with the audit trail token',
  scim: 'by the directory (SCIM)',
  slack: 'by a button in Slack',
  run: 'by Terraform in a run',
  task: 'by a run task',
};

/** Kind of access, except a user token. */
export const accessMeansOf = ({ resource: { meta } }: TrailEvent): string | undefined => {
  if (meta.token_kind === undefined) return 'by the platform, on their behalf';
  return Object.hasOwn(kinds, meta.token_kind) ? kinds[meta.token_kind] : undefined;
};

const singles: Record<string, SingleView> = {
  project: 'project',
  team: 'team',
  policy_set: 'policy-set',
  varset: 'variable-set',
  agent_pool: 'agent-pool',
};

/** Types shown in a list of their own. */
const lists: Record<string, OrganizationView> = { task: 'run-tasks', organization_membership: 'members' };

/** Types shown in a tab of their workspace. */
const tabsOf: Record<string, Tab> = {
  var: 'variables',
  workspace_task: 'settings',
  team_workspace: 'settings',
  notification_configuration: 'settings',
};

/** Types whose name the API adds while they exist (resources/audit/names.ts). */
const named = ['agent_pool', 'policy_set', 'project', 'run', 'task', 'team', 'var', 'varset'];

const programs: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/\bstepform\/([\d.]+)/i, ([, version]) => `stepform ${version}`],
  [/\b(?:Terraform|HashiCorp Terraform)\/([\d.]+)/i, ([, version]) => `Terraform ${version}`],
  [/\bOpenTofu\/([\d.]+)/i, ([, version]) => `OpenTofu ${version}`],
  [/\bgo-tfe\b/i, () => 'go-tfe'],
  [/\bpython-requests\/([\d.]+)/i, ([, version]) => `Python requests ${version}`],
  [/^Go-http-client\b/, () => 'Go program'],
  [/^(?:node|undici)\b/, () => 'Node.js program'],
  [/\bcurl\/([\d.]+)/, ([, version]) => `curl ${version}`],
  // Last, because other programs also contain this product.
  [/\bEdg\/(\d+)/, ([, version]) => `Edge ${version}`],
  [/\bFirefox\/(\d+)/, ([, version]) => `Firefox ${version}`],
  [/\b(?:Headless)?Chrome\/(\d+)/, ([, version]) => `Chrome ${version}`],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//, ([, version]) => `Safari ${version}`],
];

/** Short name of the program in a User-Agent header; its first product, if unknown. */
export const programIn = (agent: string): string => {
  for (const [pattern, name] of programs) {
    const match = pattern.exec(agent);
    if (match) return name(match);
  }
  const [, product, version] = /^([\w.-]+)\/v?([\w.-]+)/.exec(agent) ?? [];
  return product ? `${product} ${version}` : agent;
};

/** The view of the event's resource, if there is one by id and the event did not delete the resource. */
export const placeOfEvent = (
  { resource: { type, id, action, meta } }: TrailEvent,
  organization: string,
): Place | undefined => {
  if (id === null || action === 'destroy' || meta.outcome === 'refused') return undefined;
  // The resource no longer exists.
  if (named.includes(type) && nameOf({ type, id, action, meta }) === undefined) return undefined;
  const page = Object.hasOwn(lists, type) ? lists[type] : undefined;
  if (page) return { view: page, organization };
  const view = Object.hasOwn(singles, type) ? singles[type] : undefined;
  if (view) return { view, organization, id };
  if (type === 'workspace') {
    const name = meta.workspace;
    return name === undefined ? undefined : { view: 'workspace', organization, workspace: name, tab: 'overview' };
  }
  const { workspace } = meta;
  if (workspace === undefined) return undefined;
  if (type === 'run' && id.startsWith('run-')) return { view: 'run', organization, workspace, run: id };
  if (type === 'state_version' && id.startsWith('sv-')) return { view: 'state', organization, workspace, version: id };
  const tab = Object.hasOwn(tabsOf, type) ? tabsOf[type] : undefined;
  return tab && { view: 'workspace', organization, workspace, tab };
};
