import { type Resource, related } from '../../client/client.ts';
import { factsOf } from '../../client/run-facts.ts';
import { displayStatus, type Tone } from '../../run/display.ts';

/** What an organization's latest runs say of how it is doing, for the charts of its overview. */

type Run = Resource<'runs'>;

const between = (stamps: Record<string, string>, from: string, ...to: string[]): number => {
  const begin = stamps[from];
  const end = to.map((name) => stamps[name]).find((stamp) => stamp !== undefined);
  return begin === undefined || end === undefined ? 0 : Math.max(0, Date.parse(end) - Date.parse(begin));
};

/** How long Terraform worked on it, in milliseconds; what people and the queue took is not counted. */
export const workedMs = ({ attributes }: Run): number => {
  const stamps = attributes['status-timestamps'] as Record<string, string>;
  const applied = between(stamps, 'applying-at', 'applied-at', 'errored-at', 'canceled-at', 'force-canceled-at');
  const failedPlan = applied > 0 ? [] : ['errored-at', 'canceled-at', 'force-canceled-at'];
  return between(stamps, 'planning-at', 'planned-at', 'planned-and-finished-at', ...failedPlan) + applied;
};

export const median = (values: number[]): number | undefined => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
};

export interface Day {
  /** `2030-01-31`, in the reader's time zone. */
  date: string;
  succeeded: number;
  failed: number;
  /** Discarded and canceled. */
  other: number;
  /** Of the runs that succeeded. */
  medianMs: number | undefined;
}

const dateOf = (at: string | number): string => {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

const toneOf = (run: Run): Tone => displayStatus(factsOf(run)).tone;

/**
 * Finished runs by the day they were created, the oldest day first; days without runs too.
 * @param now milliseconds since 1970
 */
export const dailyRuns = (runs: Run[], days: number, now: number): Day[] => {
  const byDate = Map.groupBy(runs, ({ attributes }) => dateOf(attributes['created-at']));
  const today = new Date(now);
  return Array.from({ length: days }, (_, i) => {
    const date = dateOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1 - i)).getTime());
    const all = byDate.get(date) ?? [];
    const good = all.filter((run) => toneOf(run) === 'good');
    const failed = all.filter((run) => toneOf(run) === 'bad').length;
    return {
      date,
      succeeded: good.length,
      failed,
      other: all.length - good.length - failed,
      medianMs: median(good.map(workedMs)),
    };
  });
};

const mostInLine = 10;

/** The last ten runs of each workspace, the oldest first, by its id. @param runs the newest first */
export const latestByWorkspace = (runs: Run[]): Map<string, Run[]> => {
  const all = Map.groupBy(runs, (run) => related(run, 'workspace') ?? '');
  return new Map([...all].map(([id, some]) => [id, some.slice(0, mostInLine).reverse()]));
};

const staleMs = 90 * 86_400_000;

/** It has resources, and nothing was run or changed in it for a long time. */
export const isStale = ({ attributes }: Resource<'workspaces'>, now: number): boolean =>
  attributes['resource-count'] > 0 && now - Date.parse(attributes['latest-change-at']) > staleMs;
