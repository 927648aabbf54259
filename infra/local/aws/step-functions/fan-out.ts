import type { Context } from './context.ts';
import type { Machine } from './definition.ts';
import { evaluate, fillTemplate, runtimeFailure, selectInput } from './evaluate.ts';
import { Failure, type FailureFields } from './failure.ts';
import { Lane } from './lane.ts';
import { Halted } from './scope.ts';
import type { TaskHost } from './task-host.ts';
import type { Visit } from './visit.ts';

/** Items that an inline Map processes in parallel by default (Developer Guide: Map, MaxConcurrency). */
const defaultConcurrency = 40;

interface Branch {
  machine: Machine;
  input: () => Promise<unknown>;
  map?: Context['Map'];
}

/** Runs the states of a branch (interpreter.ts). */
type RunStates = (lane: Lane, machine: Machine, input: () => Promise<unknown>, host: TaskHost) => Promise<unknown>;

/**
 * One attempt of a Map or Parallel. The first branch that fails ends it and all other branches. Branches that succeeded
 * before a restart or redrive do not run again.
 * @throws Failure of that branch
 */
export const attemptBranches = async (visit: Visit, retry: number, run: RunStates): Promise<unknown[]> => {
  const { lane, state } = visit;
  const begun = lane.take(`${state.Type}StateStarted`);
  const failed = begun && lane.take('AttemptFailed');
  if (failed) {
    lane.previous = failed.previous;
    throw new Failure(failed.note as FailureFields, failed.at);
  }
  const { branches, limit } = state.Type === 'Map' ? await itemsOf(visit) : branchesOf(visit);
  if (!begun) {
    lane.record(`${state.Type}StateStarted`, state.Type === 'Map' ? { length: branches.length } : undefined, { retry });
  }
  const outputs = await runAll(visit, branches, { limit, prefix: `${lane.path}/${lane.visits}.${retry}`, run });
  lane.take(`${state.Type}StateSucceeded`) ?? lane.record(`${state.Type}StateSucceeded`);
  return outputs;
};

const branchesOf = ({ state, input, lane, place }: Visit): { branches: Branch[]; limit: number } => {
  const effective = async () => {
    const selected = await selectInput(state, input, place());
    return state.Parameters === undefined ? selected : fillTemplate(state.Parameters, selected, place());
  };
  const branches = state.Branches!.map((machine) => ({ machine, input: effective, map: lane.map }));
  return { branches, limit: Number.POSITIVE_INFINITY };
};

const itemsOf = async ({ state, input, lane, place }: Visit): Promise<{ branches: Branch[]; limit: number }> => {
  const effective = await lane.settled(selectInput(state, input, place()));
  const valueAt = (path: string) => lane.settled(evaluate(path, effective, place()));
  const items = state.ItemsPath === undefined ? effective : await valueAt(state.ItemsPath);
  if (!Array.isArray(items)) {
    throw runtimeFailure(`Map state input must be an array but was: ${JSON.stringify(items)}`, place());
  }
  const limit = state.MaxConcurrencyPath === undefined ? state.MaxConcurrency : await valueAt(state.MaxConcurrencyPath);
  if (limit !== undefined && (!Number.isInteger(limit) || (limit as number) < 0)) {
    throw runtimeFailure(`MaxConcurrency ${JSON.stringify(limit)} is not a number of items`, place());
  }
  const branches = items.map((Value, Index): Branch => {
    const map = { Item: { Index, Value } };
    const chosen = async () =>
      state.ItemSelector === undefined ? Value : fillTemplate(state.ItemSelector, effective, place({ Map: map }));
    return { machine: state.ItemProcessor!, input: chosen, map };
  });
  return { branches, limit: (limit as number) || defaultConcurrency };
};

const runAll = (
  { lane, name, state, host }: Visit,
  branches: readonly Branch[],
  { limit, prefix, run }: { limit: number; prefix: string; run: RunStates },
): Promise<unknown[]> => {
  const { recorder } = lane;
  const { scope, release } = lane.scope.child();
  const begun = lane.previous;
  const active = new Map<number, Lane>();
  const outputs = new Array<unknown>(branches.length);
  const iteration = (index: number) => (state.Type === 'Map' ? { name, index } : undefined);

  const runOne = async (child: Lane, branch: Branch, index: number): Promise<void> => {
    const details = iteration(index);
    if (details) child.take('MapIterationStarted') ?? child.record('MapIterationStarted', details);
    outputs[index] = await child.settled(run(child, branch.machine, branch.input, host));
    const ended = details && (child.take('MapIterationSucceeded') ?? child.record('MapIterationSucceeded', details));
    lane.previous = ended?.id ?? child.previous;
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
      if (type && ['Task', 'Wait', 'Map', 'Parallel'].includes(type)) record(of.path, `${type}StateAborted`);
    };
    if (iteration(index)) record(child.path, 'MapIterationFailed', iteration(index));
    abort(child);
    for (const [other, sibling] of active) {
      if (sibling === child) continue;
      if (iteration(other)) record(sibling.path, 'MapIterationAborted', iteration(other));
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
      while (!over && begunCount < branches.length && active.size < limit) {
        const index = begunCount++;
        const branch = branches[index]!;
        const child = new Lane(recorder, { path: `${prefix}.${index}`, scope, previous: begun, map: branch.map });
        active.set(index, child);
        runOne(child, branch, index).then(
          () => {
            active.delete(index);
            if (over) return;
            if (++endedCount === branches.length) resolve(outputs);
            else fill();
          },
          (error: unknown) => fail(child, index, error),
        );
      }
    };
    if (branches.length === 0) resolve(outputs);
    else fill();
  }).finally(release);
};
