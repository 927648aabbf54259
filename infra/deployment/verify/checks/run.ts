import { type Check, ok, seconds, within } from '../check.ts';

const maximum = 60;

type Times = Record<string, string | undefined>;

/** Seconds from one status to another. */
export const between = (times: Times, from: string, to: string): number =>
  (Date.parse(times[to] ?? '') - Date.parse(times[from] ?? '')) / 1000;

export const run: Check = {
  name: 'run',
  proves: 'A run is planned and applied by itself; the time of each stage',
  documented: `a container starts within ${maximum} s on Fargate (warm runners)`,
  part: 'canary',
  async perform(platform) {
    const { attributes } = (await platform.applied()).run;
    const times = attributes['status-timestamps'];
    const figures = {
      container: between(times, 'plan-queued-at', 'planning-at'),
      plan: between(times, 'planning-at', 'planned-at'),
      apply: between(times, 'applying-at', 'applied-at'),
    };
    const text = Object.entries(figures)
      .map(([name, value]) => `${name} ${seconds(value)}`)
      .join(', ');
    return platform.target.kind === 'aws' ? within(figures.container, maximum, text, figures) : ok(text, figures);
  },
};
