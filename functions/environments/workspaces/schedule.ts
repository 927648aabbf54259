import { getAnyTemplate, type Template } from '../templates/records.ts';
import { nextOccurrence, parseSchedule } from './cron.ts';
import type { Environment } from './records.ts';

/** When environments stop and start by their own settings and their template's. */

const weekdayNumbers = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

export const nextStart = (environment: Pick<Environment, 'autostartSchedule'>, template: Template, after: number) => {
  const schedule = environment.autostartSchedule ? parseSchedule(environment.autostartSchedule) : undefined;
  if (!schedule || !template.allowUserAutostart) return undefined;
  const allowed = template.autostartDays.map((day) => weekdayNumbers.indexOf(day));
  return nextOccurrence(schedule, after, allowed);
};

/** In ms; 0 where it is stopped by hand. */
const ttlOf = ({ ttlMs }: Pick<Environment, 'ttlMs'>, template: Template): number =>
  template.allowUserAutostop ? (ttlMs ?? 0) : template.defaultTtlMs;

/**
 * When one that has just been started is due to stop. One that would stop after its next start is due that much after it.
 * 1 read.
 */
export const deadlineAfter = async (environment: Environment, completedAt: string): Promise<string | undefined> => {
  const template = await getAnyTemplate(environment.templateId);
  const ttl = template ? ttlOf(environment, template) : 0;
  if (!template || ttl <= 0) return undefined;
  const from = Date.parse(completedAt);
  const next = nextStart(environment, template, from);
  const deadline = next !== undefined && from + ttl > next ? next + ttl : from + ttl;
  return new Date(deadline).toISOString();
};
