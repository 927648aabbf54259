import type { Context } from './context.ts';
import type { State } from './definition.ts';
import type { Place } from './evaluate.ts';
import type { Line } from './journal.ts';
import type { Lane } from './lane.ts';
import type { TaskHost } from './task-host.ts';

/** An entered state, and the data of its expressions. */
export interface Visit {
  lane: Lane;
  name: string;
  state: State;
  entered: Line;
  input: unknown;
  host: TaskHost;
  /** Further fields of the context object, e.g. the token of a task. */
  place(more?: Partial<Context>): Place;
}
