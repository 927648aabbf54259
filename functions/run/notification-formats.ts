import type { WorkspacePayload } from './auto-destroy-notice.ts';
import type { ChangeRequestPayload } from './change-request-notice.ts';
import type { HealthPayload } from './health-notice.ts';
import type { NotificationPayload, UrlDestinationType } from './notifications.ts';

/** A notification in the format of each kind of destination. Pure. */

/** On one line: a line break would end a link, or begin a quotation. */
const line = (text: string, maxLength = 300): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length > maxLength ? `${flat.slice(0, maxLength - 1)}…` : flat;
};

/** Escapes `&`, `<` and `>`, which make mentions and links (Slack: formatting text; MessageCard: HTML). */
const escaped = (text: string, maxLength?: number): string =>
  line(text, maxLength).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export type Payload = NotificationPayload | WorkspacePayload | HealthPayload | ChangeRequestPayload;

type Fact = [name: string, value: string];

const present = (facts: [name: string, value: string | null | undefined][]): Fact[] =>
  facts.filter((fact): fact is Fact => typeof fact[1] === 'string');

const healthFacts = ({ details }: HealthPayload): Fact[] => {
  const result = details.new_assessment_result;
  const count = (number: number | null) => (number === null ? null : String(number));
  return present([
    ['Organization', details.organization_name],
    ['Workspace', details.workspace_name],
    ['Resources drifted', count(result.resources_drifted)],
    ['Checks failed', count(result.checks_failed)],
  ]);
};

/** The fields besides the message, by name; none in a verification. */
const facts = (payload: Payload): Fact[] => {
  if ('details' in payload) {
    if (payload.trigger_scope === 'assessment') return healthFacts(payload);
    const { details } = payload;
    return present([
      ['Organization', details.organization_name],
      ['Workspace', details.workspace_name],
      ['Destroyed at', details.auto_destroy_at],
      ['Run', details.run_external_id],
      ['Status', details.run_status ?? details.run_create_error_message],
    ]);
  }
  if ('change_request_url' in payload) {
    return present([
      ['Organization', payload.organization_name],
      ['Workspace', payload.workspace_name],
      ['Message', payload.change_request_message],
      ['Requested by', payload.change_request_created_by],
    ]);
  }
  const updatedBy = payload.notifications[0]?.run_updated_by;
  return present([
    ['Organization', payload.organization_name],
    ['Workspace', payload.workspace_name],
    ['Run', payload.run_message],
    ['Started by', payload.run_created_by],
    ['Done by', updatedBy === payload.run_created_by ? null : updatedBy],
  ]);
};

const headline = (payload: Payload): string => {
  if ('details' in payload) return `${payload.details.workspace_name}: ${payload.message}`;
  if ('change_request_url' in payload) return `${payload.workspace_name}: ${payload.change_request_subject}`;
  return [payload.workspace_name, payload.notifications[0]?.message].filter(Boolean).join(': ');
};

const linkOf = (payload: Payload): string | null => {
  if ('details' in payload) return null;
  return 'change_request_url' in payload ? payload.change_request_url : payload.run_url;
};

const triggerIn = (payload: Payload): string | undefined => {
  if ('details' in payload) return payload.trigger;
  return 'change_request_url' in payload ? undefined : payload.notifications[0]?.trigger;
};

/** Slack: Block Kit, by an incoming webhook. `text` is what notifications of the client show. */
const slack = (payload: Payload): object => {
  const title = escaped(headline(payload));
  const url = linkOf(payload);
  const text = url ? `<${encodeURI(url)}|${title}>` : title;
  const fields = facts(payload).map(([name, value]) => ({
    type: 'plain_text',
    text: `${name}: ${line(value)}`,
    emoji: false,
  }));
  return {
    text: title,
    unfurl_links: false,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } },
      ...(fields.length ? [{ type: 'context', elements: fields }] : []),
    ],
  };
};

const colors: Record<string, string> = {
  'run:needs_attention': 'D29922',
  'run:completed': '1A7F37',
  'run:errored': 'CF222E',
};

/** Microsoft Teams: a MessageCard, by an incoming webhook. */
const teams = (payload: Payload): object => {
  const title = escaped(headline(payload));
  const url = linkOf(payload);
  const uri = url && encodeURI(url);
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    themeColor: colors[triggerIn(payload) ?? ''] ?? '0969DA',
    summary: title,
    title,
    sections: [{ markdown: false, facts: facts(payload).map(([name, value]) => ({ name, value: escaped(value) })) }],
    ...(uri
      ? {
          potentialAction: [
            {
              '@type': 'OpenUri',
              name: 'change_request_url' in payload ? 'Open the change request' : 'Open the run',
              targets: [{ os: 'default', uri }],
            },
          ],
        }
      : {}),
  };
};

export const notificationBody = (type: UrlDestinationType, payload: Payload): object => {
  if (type === 'slack') return slack(payload);
  return type === 'microsoft-teams' ? teams(payload) : payload;
};

export interface EmailContent {
  /** On one line. */
  subject: string;
  text: string;
}

/** Plain text: what people wrote is shown as it is, and links to nowhere. */
export const emailContent = (payload: Payload): EmailContent => {
  const title = line(headline(payload), 200) || 'Notification';
  const url = linkOf(payload);
  const rows = facts(payload).map(([name, value]) => `${name}: ${line(value)}`);
  return { subject: title, text: [title, '', ...rows, ...(url ? ['', encodeURI(url)] : [])].join('\n') };
};
