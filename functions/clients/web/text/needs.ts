import { type Resource, related } from '#clients/client/client.ts';
import { factsOf, mayDecide } from '#clients/client/run-facts.ts';
import { displayStatus } from '#run/display.ts';

type Run = Resource<'runs'>;

export interface Alert {
  run: Run;
  /** `Needs Confirmation`, `Apply Errored` */
  status: string;
}

/**
 * Notifications about a person's runs, each sent once: the run waits for their decision, or it failed.
 * The first call only records the current state.
 */
export class RunAlerts {
  #waiting: Set<string> | undefined;
  #open = new Set<string>();

  /**
   * @param open the person's unfinished runs
   * @param ended reads a run that finished since the last call
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

/** The runs of a list that the person started. */
export const startedBy = (runs: Run[], userId: string): Run[] =>
  runs.filter((run) => related(run, 'created-by') === userId);
