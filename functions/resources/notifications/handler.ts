import { deliverAuditExport } from '#resources/audit/export-delivery.ts';
import type { NotificationEvent, NotificationKind } from '#run/notifications/kinds.ts';
import { announceAutoDestroy } from './kinds/auto-destroy.ts';
import { announceChangeRequest } from './kinds/change-request.ts';
import { announceHealth } from './kinds/health.ts';
import { announceRun } from './kinds/run.ts';

/** Due batches of an organization's audit trail. */
interface AuditExport {
  kind: 'auditExport';
  organization: string;
}

type Sent = NotificationEvent | AuditExport;

const kinds: { [K in NotificationKind | 'auditExport']: (event: Extract<Sent, { kind: K }>) => Promise<void> } = {
  run: announceRun,
  autoDestroy: announceAutoDestroy,
  health: announceHealth,
  changeRequest: announceChangeRequest,
  auditExport: ({ organization }) => deliverAuditExport(organization),
};

export const handler = <K extends Sent['kind']>(event: Extract<Sent, { kind: K }>): Promise<void> =>
  kinds[event.kind](event);
