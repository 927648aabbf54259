/** Number and hours of warm runners. Pure; also parses the operator's setting. */

/** A daily window, in a time zone of the IANA database. If `to` is before `from`, it ends on the next day. */
export interface Hours {
  /** 0 = Sunday; days on which a window begins. */
  days: number[];
  /** Minutes after midnight. */
  from: number;
  to: number;
  timeZone: string;
}

export interface WarmRunners {
  count: number;
  /** Absent: all the time. */
  hours?: Hours;
  /** Polling interval of a warm runner. */
  pollMs: number;
  /** Version of the runners' program, if the task definition does not determine it. */
  version?: string;
}

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const dayMinutes = 24 * 60;

const daysIn = (text: string): number[] | undefined => {
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [first, last = first] = part.split('-').map((name) => weekdays.indexOf(name));
    if (first === undefined || last === undefined || first < 0 || last < 0 || part.split('-').length > 2)
      return undefined;
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return [...days].sort();
};

const minutesIn = (text: string): number | undefined => {
  const [, hours, minutes] = /^(\d\d):(\d\d)$/.exec(text) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return Number(minutes) < 60 && total <= dayMinutes ? total : undefined;
};

const isTimeZone = (timeZone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone });
    return true;
  } catch {
    return false;
  }
};

/** `Mon-Fri 08:00-18:00 Europe/Berlin`; undefined for any other text. */
export const readHours = (text: string): Hours | undefined => {
  const [dayText = '', window = '', timeZone = '', ...rest] = text.trim().split(/\s+/);
  const [from, to] = window.split('-').map(minutesIn);
  const days = daysIn(dayText);
  const isWindow = from !== undefined && to !== undefined && from !== to && from < dayMinutes;
  return days && isWindow && isTimeZone(timeZone) && !rest.length ? { days, from, to, timeZone } : undefined;
};

const isWithin = ({ days, from, to, timeZone }: Hours, at: number): boolean => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const day = weekdays.indexOf(parts.weekday ?? '');
  const minute = Number(parts.hour) * 60 + Number(parts.minute);
  if (from < to) return days.includes(day) && minute >= from && minute < to;
  return (days.includes(day) && minute >= from) || (days.includes((day + 6) % 7) && minute < to);
};

/**
 * Target number of warm runners.
 * @param at milliseconds since 1970
 */
export const targetCount = (setting: WarmRunners | undefined, at: number): number => {
  if (!setting) return 0;
  return !setting.hours || isWithin(setting.hours, at) ? setting.count : 0;
};
