import type { Context } from './context.ts';
import type { Machine, State } from './definition.ts';
import {
  choose,
  effectiveInput,
  evaluate,
  runtimeFailure,
  selectInput,
  selectOutput,
  stateOutput,
} from './evaluate.ts';
import { dataLimitExceeded, Failure, tooLarge } from './failure.ts';
import { attemptBranches } from './fan-out.ts';
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
  input: () => Promise<unknown>,
  host: TaskHost,
): Promise<unknown> => {
  let name = machine.StartAt;
  let given: () => Promise<unknown> = input;
  for (;;) {
    const state = machine.States[name]!;
    const type = state.Type;
    const entered =
      lane.take(`${type}StateEntered`) ??
      lane.record(`${type}StateEntered`, { name, input: jsonOf(await lane.settled(given())) });
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
    given = async () => step.output;
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
      const effective = await effectiveInput(state, input, visit.place());
      const result = 'Result' in state ? state.Result : effective;
      return { output: await lane.settled(stateOutput(state, input, result, visit.place())), next: state.Next };
    }
    case 'Succeed':
    case 'Wait': {
      const effective = await lane.settled(selectInput(state, input, visit.place()));
      if (state.Type === 'Wait') await lane.sleepUntil(await waitsUntil(visit, effective));
      return { output: await lane.settled(selectOutput(state, effective, visit.place())), next: state.Next };
    }
    case 'Choice':
      return lane.settled(choose(state, input, visit.place()));
    case 'Fail': {
      const error = await failText(visit, state.Error, state.ErrorPath);
      const cause = await failText(visit, state.Cause, state.CausePath);
      throw new Failure({ error, cause }, lane.recorder.now());
    }
    case 'Task':
    case 'Map':
    case 'Parallel':
      return runAttempts(visit);
    default:
      throw runtimeFailure(`Unknown state type ${state.Type satisfies never}`, visit.place());
  }
};

const failText = async (visit: Visit, text?: string, path?: string): Promise<string | undefined> => {
  if (path === undefined) return text;
  const value = await visit.lane.settled(evaluate(path, visit.input, visit.place()));
  if (typeof value !== 'string') throw runtimeFailure(`${path} is not a string`, visit.place());
  return value;
};

/** RFC 3339 with seconds and time zone, which Date.parse does not enforce. */
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const waitsUntil = async (visit: Visit, effective: unknown): Promise<number> => {
  const { lane, state, entered } = visit;
  const valueAt = async (path: string) => lane.settled(evaluate(path, effective, visit.place()));
  const seconds = state.SecondsPath === undefined ? state.Seconds : await valueAt(state.SecondsPath);
  if (seconds !== undefined) {
    if (!Number.isInteger(seconds) || (seconds as number) < 0) {
      throw runtimeFailure(`${jsonOf(seconds)} is not a number of seconds to wait`, visit.place());
    }
    // A redriven execution starts the wait again.
    return Math.max(entered.at, lane.recorder.redriven) + (seconds as number) * 1000;
  }
  const time = state.TimestampPath === undefined ? state.Timestamp : await valueAt(state.TimestampPath);
  if (typeof time !== 'string' || !timestamp.test(time) || Number.isNaN(Date.parse(time))) {
    throw runtimeFailure(`${jsonOf(time)} is not an ISO 8601 time to wait for`, visit.place());
  }
  return Date.parse(time);
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
        : await attemptBranches(visit, retries.count, runStates);
      return { output: await lane.settled(stateOutput(state, input, result, visit.place())), next: state.Next };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const delay = retries.next(error.fields);
      if (delay !== undefined) {
        if (!lane.replaying) await lane.sleepUntil(error.at + delay);
        continue;
      }
      if (!ofTask) lane.take(`${state.Type}StateFailed`) ?? lane.record(`${state.Type}StateFailed`);
      const catcher = catcherOf(state.Catch, error.fields, ofTask);
      if (!catcher) throw error;
      const merge = { ResultPath: catcher.ResultPath } as State;
      return {
        output: await lane.settled(stateOutput(merge, input, errorOutput(error.fields), visit.place())),
        next: catcher.Next,
      };
    }
  }
};
