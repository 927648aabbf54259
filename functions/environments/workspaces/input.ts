import { CoderError } from '../host/errors.ts';
import type { Template } from '../templates/records.ts';
import { parseSchedule } from './cron.ts';

/** Schedules in requests. */

const minuteMs = 60_000;
const maxTtlMs = 30 * 24 * 60 * minuteMs;

/** @throws {CoderError} 400 */
export const checkSchedule = (text: string, template: Template, message: string, field: string): void => {
  if (!template.allowUserAutostart) {
    throw new CoderError(400, 'Autostart is not allowed for workspaces using this template.');
  }
  if (!parseSchedule(text)) {
    const detail = 'must be a weekly schedule such as "CRON_TZ=Europe/Dublin 30 9 * * Mon-Fri"';
    throw new CoderError(400, message, undefined, [{ field, detail }]);
  }
};

/** @throws {CoderError} 400 */
export const checkTtl = (ttlMs: number, template: Template, message: string): void => {
  const say = (detail: string) => new CoderError(400, message, undefined, [{ field: 'ttl_ms', detail }]);
  if (!template.allowUserAutostop) {
    throw new CoderError(400, message, 'Custom autostop TTL is not allowed for workspaces using this template.', [
      { field: 'ttl_ms', detail: 'Custom autostop TTL is not allowed for workspaces using this template.' },
    ]);
  }
  if (!Number.isSafeInteger(ttlMs) || ttlMs < minuteMs) throw say('time until shutdown must be at least one minute');
  if (ttlMs >= maxTtlMs) throw say('time until shutdown must be less than 30 days');
};
