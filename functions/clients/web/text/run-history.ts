import { type Resource, related } from '#clients/client/client.ts';
import { factsOf } from '#clients/client/run-facts.ts';
import { displayStatus, type Tone } from '#run/display.ts';

/** Statistics of an organization's latest runs, for the charts of its overview. */

type Run = Resource<'runs'>;

const between = (stamps: Record<string, string>, from: string, ...to: string[]): number => {
  const begin = stamps[from];
  const end = to.map((name) => stamps[name]).find((stamp) => stamp !== undefined);
  return begin === undefined || end === undefined ? 0 : Math.max(0, Date.parse(end) - Date.parse(begin));
};

/** Time in Terraform, in milliseconds, without waiting for people and the queue. */
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
  /** Median of the successful runs. */
  medianMs: number | undefined;
}

const dateOf = (at: string | number): string => {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

/** The last days, oldest first. @param now milliseconds since 1970 */
const lastDates = (days: number, now: number): string[] => {
  const today = new Date(now);
  return Array.from({ length: days }, (_, i) =>
    dateOf(new Date(today.getFullYear(), today.getMonth(), today.getDate() - (days - 1 - i)).getTime()),
  );
};

const toneOf = (run: Run): Tone => displayStatus(factsOf(run)).tone;

/**
 * Finished runs by day of creation, oldest first, including days without runs.
 * @param now milliseconds since 1970
 */
export const dailyRuns = (runs: Run[], days: number, now: number): Day[] => {
  const byDate = Map.groupBy(runs, ({ attributes }) => dateOf(attributes['created-at']));
  return lastDates(days, now).map((date) => {
    const all = byDate.get(date) ?? [];
    const succeeded = all.filter((run) => toneOf(run) === 'good');
    const failed = all.filter((run) => toneOf(run) === 'bad').length;
    return {
      date,
      succeeded: succeeded.length,
      failed,
      other: all.length - succeeded.length - failed,
      medianMs: median(succeeded.map(workedMs)),
    };
  });
};

/** At the end of a day. */
export interface Level {
  date: string;
  /** Managed resources of all workspaces. */
  resources: number;
  /** Dollars a month, of workspaces with an estimate in this period; undefined without any. */
  monthlyCost: number | undefined;
}

const appliedOn = ({ attributes }: Run): string =>
  dateOf((attributes['status-timestamps'] as Record<string, string>)['applied-at'] ?? attributes['created-at']);

const gained = (apply: Resource | undefined): number => {
  const {
    'resource-additions': added,
    'resource-imports': imported,
    'resource-destructions': destroyed,
  } = apply?.attributes ?? {};
  return (added ?? 0) + (imported ?? 0) - (destroyed ?? 0);
};

/** Cost of a workspace at the end of a day, from its applied runs with estimates, newest first. */
const costOn = (date: string, estimated: [on: string, estimate: Resource][]): number => {
  const last = estimated.find(([on]) => on <= date);
  const cost = last
    ? last[1].attributes['proposed-monthly-cost']
    : estimated.at(-1)?.[1].attributes['prior-monthly-cost'];
  return Number(cost ?? 0);
};

/**
 * Resources and their cost at the end of each of the last days, oldest first, calculated back from the current values.
 * @param runs newest first
 * @param parts their applies and cost estimates, by id
 * @param resources current number
 */
export const dailyLevels = (
  runs: Run[],
  parts: Map<string, Resource>,
  { resources, days, now }: { resources: number; days: number; now: number },
): Level[] => {
  const applied = runs.filter(({ attributes }) => attributes.status === 'applied');
  const gains = applied.map((run) => [appliedOn(run), gained(parts.get(related(run, 'apply') ?? ''))] as const);
  const estimates = applied.flatMap((run): [string, string, Resource][] => {
    const estimate = parts.get(related(run, 'cost-estimate') ?? '');
    const hasEstimate = estimate?.attributes['proposed-monthly-cost'] != null;
    return estimate && hasEstimate ? [[related(run, 'workspace') ?? '', appliedOn(run), estimate]] : [];
  });
  const byWorkspace = [...Map.groupBy(estimates, ([workspace]) => workspace).values()].map((estimates) =>
    estimates.map(([, on, estimate]): [string, Resource] => [on, estimate]),
  );
  return lastDates(days, now).map((date) => ({
    date,
    resources: resources - gains.reduce((sum, [on, gain]) => (on > date ? sum + gain : sum), 0),
    monthlyCost: byWorkspace.length
      ? byWorkspace.reduce((sum, estimated) => sum + costOn(date, estimated), 0)
      : undefined,
  }));
};

const staleMs = 90 * 86_400_000;

/** Has resources, but no run or change for a long time. */
export const isStale = ({ attributes }: Resource<'workspaces'>, now: number): boolean =>
  attributes['resource-count'] > 0 && now - Date.parse(attributes['latest-change-at']) > staleMs;
