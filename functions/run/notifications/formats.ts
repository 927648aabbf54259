import type { Message, UrlDestinationType } from './message.ts';

/** A notification in the format of each kind of destination. Pure. */

/** Puts text on one line: a line break would end a link, or begin a quotation. */
const line = (text: string, maxLength = 300): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length > maxLength ? `${flat.slice(0, maxLength - 1)}…` : flat;
};

/** Escapes `&`, `<` and `>`, which make mentions and links (Slack: formatting text; MessageCard: HTML). */
const escaped = (text: string, maxLength?: number): string =>
  line(text, maxLength).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Slack: Block Kit, sent to an incoming webhook. `text` is shown in the client's notifications. */
const slack = ({ headline, facts, link }: Message): object => {
  const title = escaped(headline);
  const text = link ? `<${encodeURI(link.url)}|${title}>` : title;
  const fields = facts.map(([name, value]) => ({
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

const colors: Record<Message['tone'], string> = {
  attention: 'D29922',
  good: '1A7F37',
  bad: 'CF222E',
  neutral: '0969DA',
};

/** Microsoft Teams: a MessageCard, sent to an incoming webhook. */
const teams = ({ headline, facts, link, tone }: Message): object => {
  const title = escaped(headline);
  return {
    '@type': 'MessageCard',
    '@context': 'https://schema.org/extensions',
    themeColor: colors[tone],
    summary: title,
    title,
    sections: [{ markdown: false, facts: facts.map(([name, value]) => ({ name, value: escaped(value) })) }],
    ...(link
      ? {
          potentialAction: [
            { '@type': 'OpenUri', name: link.text, targets: [{ os: 'default', uri: encodeURI(link.url) }] },
          ],
        }
      : {}),
  };
};

const bodyOf: Record<UrlDestinationType, (message: Message) => object> = {
  generic: ({ payload }) => payload,
  slack,
  'microsoft-teams': teams,
};

export const notificationBody = (type: UrlDestinationType, message: Message): object => bodyOf[type](message);

export interface EmailContent {
  /** On one line. */
  subject: string;
  text: string;
}

/** Plain text: user input is shown unchanged, and never becomes a link. */
export const emailContent = ({ headline, facts, link }: Message): EmailContent => {
  const title = line(headline, 200) || 'Notification';
  const rows = facts.map(([name, value]) => `${name}: ${line(value)}`);
  return { subject: title, text: [title, '', ...rows, ...(link ? ['', encodeURI(link.url)] : [])].join('\n') };
};
