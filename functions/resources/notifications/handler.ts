import type { NotificationEvent, NotificationKind } from '#run/notifications/kinds.ts';
import { announceAutoDestroy } from './kinds/auto-destroy.ts';
import { announceChangeRequest } from './kinds/change-request.ts';
import { announceHealth } from './kinds/health.ts';
import { announceRun } from './kinds/run.ts';

const kinds: { [K in NotificationKind]: (event: Extract<NotificationEvent, { kind: K }>) => Promise<void> } = {
  run: announceRun,
  autoDestroy: announceAutoDestroy,
  health: announceHealth,
  changeRequest: announceChangeRequest,
};

export const handler = <K extends NotificationKind>(event: Extract<NotificationEvent, { kind: K }>): Promise<void> =>
  kinds[event.kind as K](event);
