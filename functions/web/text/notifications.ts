import { type DestinationType, type Trigger, triggers } from '../../run/notifications.ts';

/** Display texts of notification configurations. */

export const destinationNames: Record<string, string> = {
  slack: 'Slack',
  'microsoft-teams': 'Microsoft Teams',
  generic: 'Webhook',
  email: 'Email',
} satisfies Record<DestinationType, string>;

const words: Record<Trigger, [text: string, hint: string]> = {
  'run:created': ['Created', 'The run was queued.'],
  'run:planning': ['Planning', 'The plan started.'],
  'run:needs_attention': ['Needs attention', 'The run waits for a confirmation or a policy override.'],
  'run:applying': ['Applying', 'The apply started.'],
  'run:completed': ['Completed', 'The run was applied, or had no changes.'],
  'run:errored': ['Errored', 'The run failed, or was canceled or discarded.'],
  'workspace:auto_destroy_reminder': ['Auto-destroy reminder', 'The workspace is destroyed within 24 or 12 hours.'],
  'workspace:auto_destroy_run_results': [
    'Auto-destroy results',
    'The workspace was destroyed automatically, or could not be.',
  ],
  'assessment:drifted': ['Drift', 'A health assessment found resources that were changed outside of Terraform.'],
  'assessment:check_failure': ['Failed checks', 'A health assessment found checks that do not pass.'],
  'assessment:failed': ['Assessment failed', 'A health assessment failed to run.'],
  'team:change_request': ['Change request', 'Someone requested a change of a workspace.'],
  'change_request:created': ['Change request', 'Someone requested a change of a workspace.'],
};

export const triggerOptions = triggers.map((trigger) => [trigger, ...words[trigger]] as const);

/** `Triggers: needs attention, errored` */
export const triggerNames = (names: Trigger[]): string =>
  names.length
    ? `Triggers: ${names.map((name) => (words[name]?.[0] ?? name).toLowerCase()).join(', ')}`
    : 'No triggers';
