import type { Context } from './context.ts';
import type { Machine, State } from './definition.ts';
import { choose, effectiveInput, runtimeFailure, stateOutput } from './evaluate.ts';
import { dataLimitExceeded, Failure, tooLarge } from './failure.ts';
import { attemptItems } from './fan-out.ts';
import type { Line } from './journal.ts';
import type { Lane } from './lane.ts';
import { catcherOf, errorOutput, Retries } from './retry.ts';
import { attemptTask } from './task.ts';
import type { TaskHost } from './task-host.ts';
import type { Visit } from './visit.ts';

interface Step {
  output: unknown;
  /** Absent for a last state. */
  next?: string;
}

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

/**
 * Runs states until one ends, and returns its output. The input is read only if the lane has no lines from before a
 * restart.
 */
export const runStates = async (
  lane: Lane,
  machine: Machine,
  input: () => unknown,
  host: TaskHost,
): Promise<unknown> => {
  let name = machine.StartAt;
  let given = input;
  for (;;) {
    const state = machine.States[name]!;
    const type = state.Type;
    const entered =
      lane.take(`${type}StateEntered`) ?? lane.record(`${type}StateEntered`, { name, input: jsonOf(given()) });
    lane.visits++;
    lane.current = { name, type };
    const left = lane.takeExit();
    let step: Step;
    if (left) {
      step = { output: JSON.parse(left.details!.output as string), next: left.note?.next as string | undefined };
    } else {
      step = await runState(visit(lane, name, state, entered, host));
      const output = jsonOf(step.output);
      if (tooLarge(output)) throw new Failure({ ...dataLimitExceeded(name), terminal: true }, lane.recorder.now());
      lane.record(`${type}StateExited`, { name, output }, step.next === undefined ? undefined : { next: step.next });
      step.output = JSON.parse(output);
    }
    lane.current = undefined;
    if (step.next === undefined) return step.output;
    name = step.next;
    given = () => step.output;
  }
};

const visit = (lane: Lane, name: string, state: State, entered: Line, host: TaskHost): Visit => {
  const { recorder } = lane;
  const State: Context['State'] = { Name: name, EnteredTime: new Date(entered.at).toISOString() };
  return {
    lane,
    name,
    state,
    entered,
    input: JSON.parse(entered.details!.input as string),
    host,
    place: (more) => ({
      stateName: name,
      enteredId: entered.id,
      now: recorder.now(),
      context: { ...recorder.context(), State, ...(lane.map && { Map: lane.map }), ...more },
    }),
  };
};

const runState = async (visit: Visit): Promise<Step> => {
  const { lane, state, input } = visit;
  switch (state.Type) {
    case 'Pass': {
      const result = effectiveInput(state, input, visit.place());
      return { output: stateOutput(state, input, result, visit.place()), next: state.Next };
    }
    case 'Succeed':
      return { output: input };
    case 'Choice':
      return { output: input, next: choose(state, input, visit.place()) };
    case 'Fail':
      throw new Failure({ error: state.Error, cause: state.Cause }, lane.recorder.now());
    case 'Task':
    case 'Map':
      return runAttempts(visit);
    default:
      throw runtimeFailure(`Unknown state type ${state.Type satisfies never}`, visit.place());
  }
};

/** A state with Retry and Catch. Attempts from before a restart are replayed without waiting. */
const runAttempts = async (visit: Visit): Promise<Step> => {
  const { lane, state, input } = visit;
  const ofTask = state.Type === 'Task';
  const retries = new Retries(state.Retry, ofTask);
  for (;;) {
    try {
      const result = ofTask
        ? await attemptTask(visit, retries.count)
        : await attemptItems(visit, retries.count, runStates);
      return { output: stateOutput(state, input, result, visit.place()), next: state.Next };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const delay = retries.next(error.fields);
      if (delay !== undefined) {
        if (!lane.replaying) await lane.sleepUntil(error.at + delay);
        continue;
      }
      if (!ofTask) lane.take('MapStateFailed') ?? lane.record('MapStateFailed');
      const catcher = catcherOf(state.Catch, error.fields, ofTask);
      if (!catcher) throw error;
      const merge = { ResultPath: catcher.ResultPath } as State;
      return { output: stateOutput(merge, input, errorOutput(error.fields), visit.place()), next: catcher.Next };
    }
  }
};
