import type { Context } from './context.ts';
import type { State } from './definition.ts';
import type { Place } from './evaluate.ts';
import type { Line } from './journal.ts';
import type { Lane } from './lane.ts';
import type { TaskHost } from './task-host.ts';

/** A state that was entered, and what its expressions are evaluated with. */
export interface Visit {
  lane: Lane;
  name: string;
  state: State;
  entered: Line;
  input: unknown;
  host: TaskHost;
  /** More of the context object, e.g. the token of a task. */
  place(more?: Partial<Context>): Place;
}
