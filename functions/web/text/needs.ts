import { type Resource, related } from '../../client/client.ts';
import { factsOf, waitsForOverride } from '../../client/run-facts.ts';
import { displayStatus } from '../../run/display.ts';

type Run = Resource<'runs'>;

/** It waits for a decision that the reader may make. */
export const mayDecide = (run: Run): boolean => {
  const { actions, permissions } = run.attributes;
  return (
    (actions['is-confirmable'] && permissions['can-apply']) ||
    (waitsForOverride(run) && permissions['can-override-policy-check'])
  );
};

export interface Alert {
  run: Run;
  /** `Needs Confirmation`, `Apply Errored` */
  status: string;
}

/**
 * What to tell the person who started runs, each time once: that one waits for their decision or that it failed.
 * What was so at the first look they have seen elsewhere.
 */
export class RunAlerts {
  #waiting: Set<string> | undefined;
  #open = new Set<string>();

  /**
   * @param open the person's runs that are not over
   * @param ended reads one that is over since the last look
   */
  async look(open: Run[], ended: (id: string) => Promise<Run | undefined>): Promise<Alert[]> {
    const waiting = open.filter(mayDecide);
    const before = this.#waiting;
    const ids = new Set(open.map(({ id }) => id));
    const over = await Promise.all([...this.#open].filter((id) => !ids.has(id)).map(ended));
    this.#waiting = new Set(waiting.map(({ id }) => id));
    this.#open = ids;
    if (!before) return [];
    const failed = over.filter((run) => run?.attributes.status === 'errored') as Run[];
    return [...waiting.filter(({ id }) => !before.has(id)), ...failed].map((run) => ({
      run,
      status: displayStatus(factsOf(run)).name,
    }));
  }
}

/** Of a list, those that the person started. */
export const startedBy = (runs: Run[], userId: string): Run[] =>
  runs.filter((run) => related(run, 'created-by') === userId);
