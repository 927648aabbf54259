/** Weekly schedules: `CRON_TZ=<zone> <minutes> <hours> * * <days>` (crontab(5); UTC without a zone). Pure. */

export interface Schedule {
  zone: string;
  minutes: number[];
  hours: number[];
  /** 0 is Sunday. */
  days: number[];
}

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const numberOf = (text: string, names: string[]): number => {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  return /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
};

/** Values of a field; undefined if it is invalid. */
const valuesOf = (field: string, most: number, names: string[] = []): number[] | undefined => {
  const values = new Set<number>();
  for (const part of field.split(',')) {
    const [, range = '', from = '', to, every] = /^(\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    const step = every === undefined ? 1 : Number(every);
    const first = range === '*' ? 0 : numberOf(from, names);
    const last = range === '*' ? most : to === undefined ? (every === undefined ? first : most) : numberOf(to, names);
    if (!(step >= 1 && first <= last && last <= most)) return undefined;
    for (let value = first; value <= last; value += step) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
};

const isZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};

/** Undefined for an invalid weekly schedule. */
export const parseSchedule = (text: string): Schedule | undefined => {
  const fields = text.trim().split(/\s+/);
  const zone = /^CRON_TZ=(.+)$/.exec(fields[0] ?? '')?.[1];
  if (zone !== undefined) fields.shift();
  const [minute = '', hour = '', dayOfMonth, month, dayOfWeek = ''] = fields;
  if (fields.length !== 5 || dayOfMonth !== '*' || month !== '*' || !isZone(zone ?? 'UTC')) return undefined;
  const minutes = valuesOf(minute, 59);
  const hours = valuesOf(hour, 23);
  const days = valuesOf(dayOfWeek.replaceAll(/\b7\b/g, '0'), 6, dayNames);
  return minutes && hours && days ? { zone: zone ?? 'UTC', minutes, hours, days } : undefined;
};

/** The zone's offset from UTC at a time, in ms. */
const offsetAt = (zone: string, at: number): number => {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: string) => Number(parts.find((candidate) => candidate.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(at / 1000) * 1000;
};

/** Converts a local time to UTC; a time that clocks skip becomes the time after the gap. */
const toUtc = (zone: string, local: number): number => {
  const first = local - offsetAt(zone, local);
  return local - offsetAt(zone, first);
};

const dayMs = 86_400_000;

/**
 * The first occurrence after a time, in ms since 1970.
 * @param allowed days that count, 0 is Sunday; undefined: all
 */
export const nextOccurrence = (
  { zone, minutes, hours, days }: Schedule,
  after: number,
  allowed?: readonly number[],
): number | undefined => {
  const today = Math.floor((after + offsetAt(zone, after)) / dayMs) * dayMs;
  for (let day = 0; day <= 7; day++) {
    const date = today + day * dayMs;
    const weekday = new Date(date).getUTCDay();
    if (!days.includes(weekday) || allowed?.includes(weekday) === false) continue;
    for (const hour of hours) {
      for (const minute of minutes) {
        const at = toUtc(zone, date + (hour * 60 + minute) * 60_000);
        if (at > after) return at;
      }
    }
  }
  return undefined;
};

/** Whether the current minute in the zone is one of the schedule's. */
export const isWithin = ({ zone, minutes, hours, days }: Schedule, at: number): boolean => {
  const local = new Date(at + offsetAt(zone, at));
  return (
    minutes.includes(local.getUTCMinutes()) && hours.includes(local.getUTCHours()) && days.includes(local.getUTCDay())
  );
};
