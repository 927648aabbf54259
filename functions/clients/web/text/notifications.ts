import { type Trigger, triggers, triggerWords } from '#run/notifications/kinds.ts';
import type { DestinationType } from '#run/notifications/message.ts';

/** Display texts of notification configurations. */

export const destinationNames: Record<string, string> = {
  slack: 'Slack',
  'microsoft-teams': 'Microsoft Teams',
  generic: 'Webhook',
  email: 'Email',
} satisfies Record<DestinationType, string>;

export const triggerOptions = triggers.map(
  (trigger) => [trigger, triggerWords[trigger].label, triggerWords[trigger].hint] as const,
);

/** `Triggers: needs attention, errored` */
export const triggerNames = (names: Trigger[]): string =>
  names.length
    ? `Triggers: ${names.map((name) => (triggerWords[name]?.label ?? name).toLowerCase()).join(', ')}`
    : 'No triggers';
