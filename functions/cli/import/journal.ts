import { ApiError } from '../../client/client.ts';
import { CommandError } from '../exit.ts';
import { dim, green, plain, red, yellow } from '../paint.ts';

/** What became of each item. `todo`: what only a person can do; `failed`: what could not be done. */
export type Outcome = 'created' | 'changed' | 'unchanged' | 'todo' | 'failed';

export interface Entry {
  /** `workspace network`, `variable network/region`. */
  item: string;
  outcome: Outcome;
  /** For people: which fields, or why not. */
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

/** Notes what becomes of items; an error is one item's, and the others go on. */
export class Journal {
  readonly entries: Entry[] = [];
  readonly #told: (entry: Entry) => void;

  constructor(told: (entry: Entry) => void = () => {}) {
    this.#told = told;
  }

  note(item: string, outcome: Outcome, detail?: string): void {
    const entry: Entry = { item, outcome, ...(detail ? { detail } : {}) };
    this.entries.push(entry);
    this.#told(entry);
  }

  /** Undefined when it failed, which is noted. */
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
