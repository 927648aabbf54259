import type { Template } from '../templates/records.ts';
import { nextOccurrence, parseSchedule } from './cron.ts';
import type { Environment } from './records.ts';

/** Computes when environments stop and start, from their own settings and their template's. */

const weekdayNumbers = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

export const nextStart = (environment: Pick<Environment, 'autostartSchedule'>, template: Template, after: number) => {
  const schedule = environment.autostartSchedule ? parseSchedule(environment.autostartSchedule) : undefined;
  if (!schedule || !template.allowUserAutostart) return undefined;
  const allowed = template.autostartDays.map((day) => weekdayNumbers.indexOf(day));
  return nextOccurrence(schedule, after, allowed);
};

/** Deletion time of a dormant environment, in ms since 1970; undefined if it stays. */
export const deletingAt = (
  { dormantAt }: Pick<Environment, 'dormantAt'>,
  { timeTilDormantAutodeleteMs }: Template,
): number | undefined =>
  dormantAt && timeTilDormantAutodeleteMs ? Date.parse(dormantAt) + timeTilDormantAutodeleteMs : undefined;

/** In ms; 0 disables automatic stops. */
const ttlOf = ({ ttlMs }: Pick<Environment, 'ttlMs'>, template: Template): number =>
  template.allowUserAutostop ? (ttlMs ?? 0) : template.defaultTtlMs;

/** Weeks are counted from this date. */
const firstMonday = Date.UTC(2023, 0, 2);
/** A required stop that is closer than this is skipped. */
const leewayMs = 2 * hourMs;

/** The next midnight (UTC) at which the template requires a stop; undefined when it requires none. */
export const requiredStop = ({ autostopDays, autostopWeeks }: Template, from: number): number | undefined => {
  const days = autostopDays.map((day) => weekdayNumbers.indexOf(day));
  const weeks = Math.max(1, autostopWeeks);
  const today = Math.floor(from / dayMs) * dayMs;
  // A stop tomorrow can be too close, and the one after it is `weeks` later.
  const last = 7 * weeks + 1;
  for (let day = 1; day <= last; day++) {
    const at = today + day * dayMs;
    const week = Math.floor((at - firstMonday) / (7 * dayMs));
    if (at >= from + leewayMs && week % weeks === 0 && days.includes(new Date(at).getUTCDay())) return at;
  }
  return undefined;
};

export interface Deadlines {
  deadline?: string;
  /** The latest possible deadline. */
  maxDeadline?: string;
}

const iso = (at: number): string => new Date(at).toISOString();

/**
 * Deadlines of an environment that has just started. If it would still run at its next scheduled start, the deadline
 * is counted from that start.
 */
export const deadlinesFrom = (
  environment: Pick<Environment, 'ttlMs' | 'autostartSchedule'>,
  template: Template,
  from: number,
): Deadlines => {
  const ttl = ttlOf(environment, template);
  const max = requiredStop(template, from);
  const maxDeadline = max === undefined ? {} : { maxDeadline: iso(max) };
  if (!ttl) return max === undefined ? {} : { deadline: iso(max), ...maxDeadline };
  const next = nextStart(environment, template, from) ?? Infinity;
  const deadline = from + ttl > next ? next + ttl : from + ttl;
  return { deadline: iso(Math.min(deadline, max ?? Infinity)), ...maxDeadline };
};

/** A bump by less than this fraction is not worth a write. */
const leastPart = 0.05;

/** The deadline after use; undefined while the current one is late enough. */
export const bumpedDeadline = (
  environment: Pick<Environment, 'ttlMs' | 'autostartSchedule'>,
  template: Template,
  { deadline, maxDeadline }: Deadlines,
  now: number,
): string | undefined => {
  const bump = template.activityBumpMs;
  if (!deadline || !bump) return undefined;
  const next = nextStart(environment, template, now) ?? Infinity;
  const target = now + bump > next ? next + ttlOf(environment, template) : now + bump;
  const bumped = Math.min(target, maxDeadline ? Date.parse(maxDeadline) : Infinity);
  return bumped - Date.parse(deadline) >= bump * leastPart ? iso(bumped) : undefined;
};
