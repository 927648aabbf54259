import type { OrganizationView, Place, SingleView, Tab } from '../../client/page-addresses.ts';
import { csvOf } from '../../csv.ts';

/** Events of the audit trail, in words. */

/** As the API has it, which is not JSON:API (audit/document.ts). */
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
      /** What it is called, if it still exists. */
      name?: string;
      workspace?: string;
      workspace_id?: string;
    };
  };
}

/** Of what it is about, where it has one and still exists. */
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

/** With a line of names. */
export const csvOfTrail = (events: TrailEvent[]): string =>
  csvOf(
    columns.map(([name]) => name),
    events.map((event) => columns.map(([, value]) => value(event))),
  );

export const spaced = (text: string): string => text.replaceAll('_', ' ');

/** The API's words, in ours, for what was done and for what was not. */
const verbs: Record<string, readonly [done: string, tried: string]> = {
  create: ['created', 'create'],
  update: ['changed', 'change'],
  destroy: ['deleted', 'delete'],
  show: ['read', 'read'],
};

/** How actions are offered to be filtered by: these, and what else was seen. */
export const usualActions = ['create', 'update', 'destroy', 'show', 'apply', 'discard', 'cancel', 'lock', 'unlock'];

/** What happened, as an entry of a list: `created` for `create`. */
export const actionIn = (action: string): string =>
  (Object.hasOwn(verbs, action) ? verbs[action]?.[0] : undefined) ?? spaced(action);

export const usualTypes = ['workspace', 'run', 'var', 'varset', 'state_version', 'team', 'project', 'policy_set'];

/** `workspace: created`, and where nothing came of it `workspace: create`; other actions keep the names they have. */
export const deedIn = ({ resource: { type, action, meta } }: TrailEvent): string => {
  const words = Object.hasOwn(verbs, action) ? verbs[action] : undefined;
  return `${spaced(type)}: ${words?.[meta.outcome === 'allowed' ? 0 : 1] ?? spaced(action)}`;
};

const kinds: Record<string, string> = {
  team: 'with a team token',
  organization: 'with the organization token',
  'audit-trails': 'with the audit trail token',
  run: 'by Terraform in a run',
  task: 'by a run task',
};

/** The means of access, unless it was a user token. */
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

/** Shown in a list of their own. */
const lists: Record<string, OrganizationView> = { task: 'run-tasks', organization_membership: 'members' };

/** Shown in a tab of their workspace. */
const tabsOf: Record<string, Tab> = {
  var: 'variables',
  workspace_task: 'settings',
  team_workspace: 'settings',
  notification_configuration: 'settings',
};

/** What the API names as long as it exists (audit/names.ts). */
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
  // What the others say they are, too, stands last.
  [/\bEdg\/(\d+)/, ([, version]) => `Edge ${version}`],
  [/\bFirefox\/(\d+)/, ([, version]) => `Firefox ${version}`],
  [/\b(?:Headless)?Chrome\/(\d+)/, ([, version]) => `Chrome ${version}`],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//, ([, version]) => `Safari ${version}`],
];

/** The program that a User-Agent header names, in short: its first product, where it is not known. */
export const programIn = (agent: string): string => {
  for (const [pattern, name] of programs) {
    const match = pattern.exec(agent);
    if (match) return name(match);
  }
  const [, product, version] = /^([\w.-]+)\/v?([\w.-]+)/.exec(agent) ?? [];
  return product ? `${product} ${version}` : agent;
};

/** Where the page shows what an event was about, if it has a view that goes by id and the thing is not gone by it. */
export const placeOfEvent = (
  { resource: { type, id, action, meta } }: TrailEvent,
  organization: string,
): Place | undefined => {
  if (id === null || action === 'destroy' || meta.outcome === 'refused') return undefined;
  // It is gone.
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
