import { type DestinationType, type NotificationTrigger, notificationTriggers } from '../../run/notifications.ts';

/** Notification configurations in the reader's words. */

export const destinationNames: Record<string, string> = {
  slack: 'Slack',
  'microsoft-teams': 'Microsoft Teams',
  generic: 'Webhook',
} satisfies Record<DestinationType, string>;

/** After "a run that". */
const triggers: Record<NotificationTrigger, [text: string, hint: string]> = {
  'run:created': ['was created', 'It is in line.'],
  'run:planning': ['plans', 'Its turn has come.'],
  'run:needs_attention': ['needs attention', 'Somebody has to confirm its plan, or to override policies.'],
  'run:applying': ['applies', 'It changes infrastructure.'],
  'run:completed': ['completed', 'It was applied, or had nothing to do.'],
  'run:errored': ['errored', 'Or was canceled or discarded.'],
};

export const triggerOptions = notificationTriggers.map((one) => [one, ...triggers[one]] as const);

/** `a run that needs attention, errored` */
export const triggerNames = (given: NotificationTrigger[]): string =>
  given.length ? `hears of a run that ${given.map((one) => triggers[one]?.[0] ?? one).join(', ')}` : 'hears of nothing';
