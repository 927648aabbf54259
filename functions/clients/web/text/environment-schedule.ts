import { parseSchedule } from '#environments/workspaces/cron.ts';

/** Display and input of environment schedules. */

export const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

export interface WeeklyStart {
  /** `09:30` */
  time: string;
  /** 0 is Sunday. */
  days: number[];
  zone: string;
}

const two = (n: number): string => String(n).padStart(2, '0');

/** Undefined for a schedule with several times a day, which the form does not offer. */
export const weeklyStart = (schedule: string): WeeklyStart | undefined => {
  const { minutes = [], hours = [], days = [], zone = '' } = parseSchedule(schedule) ?? {};
  const [minute, hour] = [minutes[0], hours[0]];
  if (minutes.length !== 1 || hours.length !== 1 || minute === undefined || hour === undefined) return undefined;
  return { time: `${two(hour)}:${two(minute)}`, days, zone };
};

export const cronOf = ({ time, days, zone }: WeeklyStart): string => {
  const [hour, minute] = time.split(':').map(Number);
  return `CRON_TZ=${zone} ${minute} ${hour} * * ${days.length === 7 ? '*' : days.join(',')}`;
};

const daysText = (days: number[]): string => {
  if (days.length === 7) return 'every day';
  if (days.join() === '1,2,3,4,5') return 'Mon–Fri';
  return days.map((day) => dayNames[day]?.slice(0, 3)).join(', ');
};

/** `09:30, Mon–Fri (Europe/Dublin)`; other schedules unchanged. */
export const scheduleText = (schedule: string): string => {
  const weekly = weeklyStart(schedule);
  return weekly ? `${weekly.time}, ${daysText(weekly.days)} (${weekly.zone})` : schedule;
};

const hour = 3_600_000;

/** `8h30m` → milliseconds; undefined for other texts. */
export const hoursIn = (text: string): number | undefined => {
  const [, hours, minutes] = /^(?:(\d{1,4})\s*h)?\s*(?:(\d{1,4})\s*m(?:in)?)?$/.exec(text.trim()) ?? [];
  if (hours === undefined && minutes === undefined) return undefined;
  return Number(hours ?? 0) * hour + Number(minutes ?? 0) * 60_000;
};

export const hoursText = (ms: number): string => {
  const minutes = Math.round(ms / 60_000);
  const [h, m] = [Math.floor(minutes / 60), minutes % 60];
  return `${h ? `${h}h` : ''}${m || !h ? `${m}m` : ''}`;
};
