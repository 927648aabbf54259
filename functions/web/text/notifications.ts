import { type DestinationType, type NotificationTrigger, notificationTriggers } from '../../run/notifications.ts';

/** Notification configurations in the reader's words. */

export const destinationNames: Record<string, string> = {
  slack: 'Slack',
  'microsoft-teams': 'Microsoft Teams',
  generic: 'Webhook',
} satisfies Record<DestinationType, string>;

const triggers: Record<NotificationTrigger, [text: string, hint: string]> = {
  'run:created': ['Created', 'The run was queued.'],
  'run:planning': ['Planning', 'The plan started.'],
  'run:needs_attention': ['Needs attention', 'The run waits for a confirmation or a policy override.'],
  'run:applying': ['Applying', 'The apply started.'],
  'run:completed': ['Completed', 'The run was applied, or had no changes.'],
  'run:errored': ['Errored', 'The run failed, or was canceled or discarded.'],
};

export const triggerOptions = notificationTriggers.map((one) => [one, ...triggers[one]] as const);

/** `Triggers: needs attention, errored` */
export const triggerNames = (names: NotificationTrigger[]): string =>
  names.length
    ? `Triggers: ${names.map((name) => (triggers[name]?.[0] ?? name).toLowerCase()).join(', ')}`
    : 'No triggers';
