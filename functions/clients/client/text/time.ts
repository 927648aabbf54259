/** Formats times. Durations are in milliseconds. */

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `4.2 s`, `1 min 5 s`, `2 h 3 min`, `3 d 4 h`. Clocks differ, so negative durations count as zero. */
export const duration = (ms: number): string => {
  const took = Math.max(0, ms);
  if (took < 9_950) return `${(took / 1000).toFixed(1)} s`;
  const seconds = Math.round(took / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (took < day) return `${Math.floor(took / hour)} h ${Math.floor((took % hour) / minute)} min`;
  return `${Math.floor(took / day)} d ${Math.floor((took % day) / hour)} h`;
};

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`, then the date. */
export const ago = (at: string, now: number): string => {
  const took = now - Date.parse(at);
  if (took < 10_000) return 'just now';
  if (took < minute) return `${Math.floor(took / 1000)} s ago`;
  if (took < hour) return `${Math.floor(took / minute)} min ago`;
  if (took < day) return `${Math.floor(took / hour)} h ago`;
  if (took < 30 * day) return `${Math.floor(took / day)} d ago`;
  return new Date(at).toISOString().slice(0, 10);
};

/** In the user's time zone, to the second. */
export const exactTime = (at: string): string =>
  new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** `14:03:22` in the user's time zone. */
export const timeOfDay = (at: string): string => new Date(at).toLocaleTimeString(undefined, { hour12: false });

/** The same, preceded by the date if it differs from the expected day. @param day a time on the expected day */
export const timeAfter = (at: string, day: string | number): string => {
  const [date, expectedDate] = [new Date(at), new Date(day)];
  if (date.toDateString() === expectedDate.toDateString()) return timeOfDay(at);
  return `${date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })}, ${timeOfDay(at)}`;
};

export const bytes = (n: number): string => {
  if (n < 1_000) return `${n} B`;
  return n < 1_000_000 ? `${(n / 1_000).toFixed(1)} KB` : `${(n / 1_000_000).toFixed(1)} MB`;
};

/** `1 resource`, `3 resources`. */
export const count = (n: number, noun: string): string => `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`;
