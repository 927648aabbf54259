import type { Place, SingleView } from '../../client/page-addresses.ts';
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
      workspace?: string;
      workspace_id?: string;
    };
  };
}

const columns: readonly (readonly [string, (event: TrailEvent) => string | number | null | undefined])[] = [
  ['timestamp', ({ timestamp }) => timestamp],
  ['actor', ({ auth }) => auth.description],
  ['actor_id', ({ auth }) => auth.accessor_id],
  ['resource', ({ resource }) => resource.type],
  ['resource_id', ({ resource }) => resource.id],
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

const spaced = (text: string): string => text.replaceAll('_', ' ');

/** The API's words, in ours, for what was done and for what was not. */
const verbs: Record<string, readonly [done: string, tried: string]> = {
  create: ['created', 'create'],
  update: ['changed', 'change'],
  destroy: ['deleted', 'delete'],
  show: ['read', 'read'],
};

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

const programs: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/\bstepform\/([\d.]+)/i, ([, version]) => `stepform ${version}`],
  [/\b(?:Terraform|HashiCorp Terraform)\/([\d.]+)/i, ([, version]) => `Terraform ${version}`],
  [/\bOpenTofu\/([\d.]+)/i, ([, version]) => `OpenTofu ${version}`],
  [/\bgo-tfe\b/i, () => 'go-tfe'],
  [/\bcurl\/([\d.]+)/, ([, version]) => `curl ${version}`],
  // What the others say they are, too, stands last.
  [/\bEdg\/(\d+)/, ([, version]) => `Edge ${version}`],
  [/\bFirefox\/(\d+)/, ([, version]) => `Firefox ${version}`],
  [/\b(?:Headless)?Chrome\/(\d+)/, ([, version]) => `Chrome ${version}`],
  [/\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//, ([, version]) => `Safari ${version}`],
];

/** The program that a User-Agent header names, in short; what is not known stays as it is. */
export const programIn = (agent: string): string => {
  for (const [pattern, name] of programs) {
    const match = pattern.exec(agent);
    if (match) return name(match);
  }
  return agent;
};

/** Where the page shows what an event was about, if it has a view that goes by id and the thing is not gone by it. */
export const placeOfEvent = (
  { resource: { type, id, action, meta } }: TrailEvent,
  organization: string,
): Place | undefined => {
  if (id === null || action === 'destroy' || meta.outcome === 'refused') return undefined;
  const view = Object.hasOwn(singles, type) ? singles[type] : undefined;
  if (view) return { view, organization, id };
  if (type === 'workspace') {
    const name = meta.workspace;
    return name === undefined ? undefined : { view: 'workspace', organization, workspace: name, tab: 'overview' };
  }
  if (type !== 'run' || !id.startsWith('run-')) return undefined;
  return meta.workspace === undefined ? undefined : { view: 'run', organization, workspace: meta.workspace, run: id };
};
