import type { DestinationType, NotificationPayload } from './notifications.ts';

/** The same notification as each kind of destination reads it. Pure. */

/** On one line: a line break would end a link, or begin a quotation. */
const line = (text: string, most = 300): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat;
};

/** `&`, `<` and `>` have a meaning: mentions and links are made of them (Slack: formatting text; MessageCard: HTML). */
const escaped = (text: string, most?: number): string =>
  line(text, most).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** What is said of a run beside the message, by name; nothing in a verification. */
const facts = (payload: NotificationPayload): [name: string, value: string][] => {
  const updatedBy = payload.notifications[0]?.run_updated_by;
  return [
    ['Organization', payload.organization_name],
    ['Workspace', payload.workspace_name],
    ['Run', payload.run_message],
    ['Started by', payload.run_created_by],
    ['Done by', updatedBy === payload.run_created_by ? null : updatedBy],
  ].filter((fact): fact is [string, string] => typeof fact[1] === 'string');
};

const headline = (payload: NotificationPayload): string =>
  [payload.workspace_name, payload.notifications[0]?.message].filter(Boolean).join(': ');

/** Slack: Block Kit, by an incoming webhook. `text` is what notifications of the client show. */
const slack = (payload: NotificationPayload): object => {
  const title = escaped(headline(payload));
  const text = payload.run_url ? `<${encodeURI(payload.run_url)}|${title}>` : title;
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
const teams = (payload: NotificationPayload): object => {
  const title = escaped(headline(payload));
  const uri = payload.run_url && encodeURI(payload.run_url);
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    themeColor: colors[payload.notifications[0]?.trigger ?? ''] ?? '0969DA',
    summary: title,
    title: title,
    sections: [{ markdown: false, facts: facts(payload).map(([name, value]) => ({ name, value: escaped(value) })) }],
    ...(uri
      ? { potentialAction: [{ '@type': 'OpenUri', name: 'Open the run', targets: [{ os: 'default', uri }] }] }
      : {}),
  };
};

export const notificationBody = (type: DestinationType, payload: NotificationPayload): object => {
  if (type === 'slack') return slack(payload);
  return type === 'microsoft-teams' ? teams(payload) : payload;
};
