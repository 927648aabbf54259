import type { Choice, Message, UrlDestinationType } from './message.ts';

/** A notification in the format of each kind of destination. Pure. */

/** Puts text on one line: a line break would end a link, or begin a quotation. */
const line = (text: string, maxLength = 300): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return flat.length > maxLength ? `${flat.slice(0, maxLength - 1)}…` : flat;
};

/** Escapes `&`, `<` and `>`, which make mentions and links (Slack: formatting text; MessageCard: HTML). */
const escaped = (text: string, maxLength?: number): string =>
  line(text, maxLength).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Prefix of the buttons' `action_id`. */
export const buttonPrefix = 'stepform-';

const buttons: Record<Choice, { text: string; style: 'primary' | 'danger'; asks: string }> = {
  apply: { text: 'Confirm', style: 'primary', asks: 'Apply the plan of this run?' },
  override: { text: 'Override', style: 'danger', asks: 'Override the failed policies of this run?' },
  discard: { text: 'Discard', style: 'danger', asks: 'Discard this run?' },
};

const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });

/** Each button asks again before Slack sends the click (Block Kit: confirmation dialog object). */
const slackButton = (choice: Choice, runId: string): object => {
  const { text, style, asks } = buttons[choice];
  return {
    type: 'button',
    action_id: `${buttonPrefix}${choice}`,
    value: runId,
    text: plain(text),
    style,
    confirm: { title: plain(text), text: plain(asks), confirm: plain(text), deny: plain('Go back'), style },
  };
};

/** Slack: Block Kit, sent to an incoming webhook. `text` is shown in the client's notifications. */
export const slackBody = ({ headline, facts, link, decision }: Omit<Message, 'payload'>): object => {
  const title = escaped(headline);
  const text = link ? `<${encodeURI(link.url)}|${title}>` : title;
  const fields = facts.map(([name, value]) => plain(`${name}: ${line(value)}`));
  return {
    text: title,
    unfurl_links: false,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } },
      ...(fields.length ? [{ type: 'context', elements: fields }] : []),
      ...(decision?.choices.length
        ? [{ type: 'actions', elements: decision.choices.map((choice) => slackButton(choice, decision.runId)) }]
        : []),
    ],
  };
};

/** `Confirm or discard …` on a run that waits for it. */
const openingText = (otherwise: string, choices: Choice[] = []): string =>
  choices.length ? `${line(choices.map((choice) => buttons[choice].text).join(' or '))} …` : otherwise;

const colors: Record<Message['tone'], string> = {
  attention: 'D29922',
  good: '1A7F37',
  bad: 'CF222E',
  neutral: '0969DA',
};

/**
 * Microsoft Teams: a MessageCard, sent to an incoming webhook. Such a webhook cannot say who clicks, so that its button
 * only opens the run, whose page asks for the decision.
 */
const teams = ({ headline, facts, link, tone, decision }: Message): object => {
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
            {
              '@type': 'OpenUri',
              name: openingText(link.text, decision?.choices),
              targets: [{ os: 'default', uri: encodeURI(link.url) }],
            },
          ],
        }
      : {}),
  };
};

const bodyOf: Record<UrlDestinationType, (message: Message) => object> = {
  generic: ({ payload }) => payload,
  slack: slackBody,
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
