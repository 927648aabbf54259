import type { Context } from './context.ts';
import type { Machine } from './definition.ts';
import { evaluate, fillTemplate, runtimeFailure } from './evaluate.ts';
import { Failure, type FailureFields } from './failure.ts';
import { Lane } from './lane.ts';
import { Halted } from './scope.ts';
import type { TaskHost } from './task-host.ts';
import type { Visit } from './visit.ts';

/** Items that an inline Map processes in parallel (Developer Guide: Map, MaxConcurrency). */
const concurrency = 40;

interface Item {
  input: () => unknown;
  map: Context['Map'];
}

/** Runs the states of an item (interpreter.ts). */
type RunStates = (lane: Lane, machine: Machine, input: () => unknown, host: TaskHost) => Promise<unknown>;

/**
 * One attempt of a Map. The first item that fails ends it and all other items. Items that succeeded before a restart or
 * redrive do not run again.
 * @throws Failure of that item
 */
export const attemptItems = async (visit: Visit, retry: number, run: RunStates): Promise<unknown[]> => {
  const { lane } = visit;
  const begun = lane.take('MapStateStarted');
  const failed = begun && lane.take('AttemptFailed');
  if (failed) {
    lane.previous = failed.previous;
    throw new Failure(failed.note as FailureFields, failed.at);
  }
  const items = itemsOf(visit);
  if (!begun) lane.record('MapStateStarted', { length: items.length }, { retry });
  const outputs = await runAll(visit, items, `${lane.path}/${lane.visits}.${retry}`, run);
  lane.take('MapStateSucceeded') ?? lane.record('MapStateSucceeded');
  return outputs;
};

const itemsOf = ({ state, input, place }: Visit): Item[] => {
  const items = state.ItemsPath === undefined ? input : evaluate(state.ItemsPath, input, place());
  if (!Array.isArray(items)) {
    throw runtimeFailure(`Map state input must be an array but was: ${JSON.stringify(items)}`, place());
  }
  return items.map((Value, Index) => {
    const map = { Item: { Index, Value } };
    const chosen = () =>
      state.ItemSelector === undefined ? Value : fillTemplate(state.ItemSelector, input, place({ Map: map }));
    return { input: chosen, map };
  });
};

const runAll = (
  { lane, name, state, host }: Visit,
  items: readonly Item[],
  prefix: string,
  run: RunStates,
): Promise<unknown[]> => {
  const { recorder } = lane;
  const { scope, release } = lane.scope.child();
  const begun = lane.previous;
  const active = new Map<number, Lane>();
  const outputs = new Array<unknown>(items.length);

  const runOne = async (child: Lane, { input }: Item, index: number): Promise<void> => {
    child.take('MapIterationStarted') ?? child.record('MapIterationStarted', { name, index });
    outputs[index] = await child.settled(run(child, state.ItemProcessor!, input, host));
    const ended = child.take('MapIterationSucceeded') ?? child.record('MapIterationSucceeded', { name, index });
    lane.previous = ended.id;
  };

  /** Writes all lines at once, the parent's first, so that after a restart the attempt counts as ended. */
  const recordFailure = (child: Lane, index: number, failure: Failure): Failure => {
    const { previous } = child;
    const record = (path: string, type: string, details?: object) =>
      recorder.record({ lane: path || undefined, previous, type, details: details as Record<string, unknown> });
    const line = recorder.record({
      lane: lane.path || undefined,
      previous,
      type: 'AttemptFailed',
      note: { ...failure.fields },
    });
    const abort = (of: Lane) => {
      const type = of.current?.type;
      if (type === 'Task' || type === 'Map') record(of.path, `${type}StateAborted`);
    };
    record(child.path, 'MapIterationFailed', { name, index });
    abort(child);
    for (const [other, sibling] of active) {
      if (sibling === child) continue;
      record(sibling.path, 'MapIterationAborted', { name, index: other });
      abort(sibling);
    }
    lane.previous = previous;
    return new Failure(failure.fields, line.at);
  };

  return new Promise<unknown[]>((resolve, reject) => {
    let begunCount = 0;
    let endedCount = 0;
    let over = false;
    const fail = (child: Lane, index: number, error: unknown) => {
      if (over) return;
      over = true;
      try {
        if (lane.scope.cancelled) throw new Halted();
        reject(error instanceof Failure ? recordFailure(child, index, error) : error);
      } catch (halted) {
        reject(halted);
      }
      scope.cancel();
    };
    const fill = () => {
      while (!over && begunCount < items.length && active.size < concurrency) {
        const index = begunCount++;
        const item = items[index]!;
        const child = new Lane(recorder, { path: `${prefix}.${index}`, scope, previous: begun, map: item.map });
        active.set(index, child);
        runOne(child, item, index).then(
          () => {
            active.delete(index);
            if (over) return;
            if (++endedCount === items.length) resolve(outputs);
            else fill();
          },
          (error: unknown) => fail(child, index, error),
        );
      }
    };
    if (items.length === 0) resolve(outputs);
    else fill();
  }).finally(release);
};
