import { ApiError } from '#clients/client/client.ts';
import { CommandError } from '../exit.ts';
import { dim, green, plain, red, yellow } from '../paint.ts';

/** Result of each item. `todo`: a person has to do it. */
export type Outcome = 'created' | 'changed' | 'unchanged' | 'todo' | 'failed';

export interface Entry {
  /** `workspace network`, `variable network/region`. */
  item: string;
  outcome: Outcome;
  /** For people: the changed fields, or the reason. */
  detail?: string;
}

const marks: Record<Outcome, string> = {
  created: green('+'),
  changed: yellow('~'),
  unchanged: dim('='),
  todo: yellow('*'),
  failed: red('!'),
};

export const lineOf = ({ item, outcome, detail }: Entry): string =>
  `${marks[outcome]} ${plain(item)}${detail ? `: ${plain(detail)}` : ''}`;

const reasonOf = (error: unknown): string => {
  if (error instanceof ApiError) {
    return error.errors.map(({ title, detail }) => detail ?? title).join('; ') || error.message;
  }
  return (error as Error).message;
};

/** Records the result of each item; an error fails one item, not the import. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly #report: (entry: Entry) => void;

  constructor(report: (entry: Entry) => void = () => {}) {
    this.#report = report;
  }

  note(item: string, outcome: Outcome, detail?: string): void {
    const entry: Entry = { item, outcome, ...(detail ? { detail } : {}) };
    this.entries.push(entry);
    this.#report(entry);
  }

  /** Undefined when the work failed, which is recorded. */
  async attempt<T>(item: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof CommandError && error.message === '') throw error;
      this.note(item, 'failed', reasonOf(error));
      return undefined;
    }
  }

  count(outcome: Outcome): number {
    return this.entries.filter((entry) => entry.outcome === outcome).length;
  }
}

/** Counts, for people. */
export const summaryOf = (journal: Journal, isDry: boolean): string => {
  const counts = [
    `${journal.count('created')} ${isDry ? 'to create' : 'created'}`,
    `${journal.count('changed')} ${isDry ? 'to change' : 'changed'}`,
    `${journal.count('unchanged')} unchanged`,
    `${journal.count('todo')} to do by hand`,
    `${journal.count('failed')} failed`,
  ];
  return `${counts.join(', ')}${isDry ? '. Nothing was written: this is a dry run' : ''}`;
};
