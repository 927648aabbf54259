import { tokenResource } from './definition.ts';
import { effectiveInput, evaluate, type Place, runtimeFailure } from './evaluate.ts';
import type { PendingTask } from './execution.ts';
import { dataLimitExceeded, Failure, type FailureFields, tooLarge } from './failure.ts';
import type { Line } from './journal.ts';
import { Halted } from './scope.ts';
import type { Visit } from './visit.ts';

interface Limits {
  timeoutInSeconds?: number;
  heartbeatInSeconds?: number;
}

interface Call {
  functionArn: string;
  payload: unknown;
}

/** Replaces the token in histories: permission to read an execution is not permission to resume it. */
const hiddenToken = '[task token]';

const hide = (json: string, token: string | undefined): string => (token ? json.replaceAll(token, hiddenToken) : json);

/**
 * One attempt of a task: schedules it, invokes the function, and waits for the outcome. After a restart, a recorded
 * outcome is reused; an attempt that waited for its token continues with the same token and deadline; a function
 * without a recorded result is invoked again.
 * @throws Failure with the task's error
 */
export const attemptTask = async (visit: Visit, retry: number): Promise<unknown> => {
  const { lane, state, host, entered } = visit;
  const waits = state.Resource === tokenResource;
  const resource = { resourceType: 'lambda', resource: waits ? 'invoke.waitForTaskToken' : 'invoke' };

  let scheduled = lane.take('TaskScheduled');
  let started = scheduled && lane.take('TaskStarted');
  const submitted = started && lane.take('TaskSubmitted');
  const outcome = started && lane.take('TaskSucceeded', 'TaskFailed', 'TaskTimedOut');
  if (outcome) return resultOf(outcome);

  const task = (scheduled?.note?.task as string | undefined) ?? lane.nextTask();
  const token = waits ? host.issueToken(task) : undefined;
  const place = visit.place({
    State: { Name: visit.name, EnteredTime: new Date(entered.at).toISOString(), RetryCount: retry },
    ...(token && { Task: { Token: token } }),
  });
  const call = submitted ? undefined : prepareCall(visit, place);
  if (!scheduled) {
    const limits = limitsOf(visit, place);
    const parameters = hide(call!.json, token);
    scheduled = lane.record(
      'TaskScheduled',
      { ...resource, region: host.region, parameters, ...limits },
      { task, retry },
    );
  }
  started ??= lane.record('TaskStarted', resource);
  return resultOf(await waitForOutcome(visit, { scheduled, task, token, resource, call }));
};

/** Parameters, as JSON and as the function's payload. */
const prepareCall = (visit: Visit, place: Place): Call & { json: string } => {
  const parameters = effectiveInput(visit.state, visit.input, place);
  const json = JSON.stringify(parameters);
  if (tooLarge(json)) throw new Failure({ ...dataLimitExceeded(visit.name), terminal: true }, place.now);
  // The function gets its own copy, so that no change reaches the execution.
  const { FunctionName, Payload = {} } = JSON.parse(json) as { FunctionName?: string; Payload?: unknown };
  if (typeof FunctionName !== 'string') throw runtimeFailure('FunctionName is missing in Parameters', place);
  return { json, functionArn: FunctionName, payload: Payload };
};

/** The path refers to the state's input, before Parameters. */
const limitsOf = ({ state, input }: Visit, place: Place): Limits => {
  const { TimeoutSeconds, TimeoutSecondsPath: path, HeartbeatSeconds } = state;
  const timeout = path === undefined ? TimeoutSeconds : (evaluate(path, input, place) as number);
  if (path !== undefined && !(Number.isInteger(timeout) && (timeout as number) > 0))
    throw runtimeFailure(`${path} is ${JSON.stringify(timeout)}, not a positive number of seconds`, place);
  return { timeoutInSeconds: timeout, heartbeatInSeconds: HeartbeatSeconds };
};

interface Attempt {
  scheduled: Line;
  task: string;
  token?: string;
  resource: object;
  /** Absent if the function returned before a restart. */
  call?: Call;
}

const waitForOutcome = ({ lane, name, host }: Visit, { scheduled, task, token, resource, call }: Attempt) =>
  lane.wait<Line>((done) => {
    const { recorder } = lane;
    const { timeoutInSeconds, heartbeatInSeconds } = scheduled.details as Limits;
    const timeOut = (heartbeat: boolean) =>
      pending.settle('TaskTimedOut', { error: 'States.Timeout' }, heartbeat ? { heartbeat } : undefined);
    let open = true;
    let callOffHeartbeat = () => {};
    // The deadline counts from the schedule, also after a restart; the heartbeat interval starts again.
    const callOffTimeout =
      timeoutInSeconds === undefined
        ? () => {}
        : recorder.after(scheduled.at + timeoutInSeconds * 1000 - recorder.now(), () => timeOut(false));

    const close = () => {
      open = false;
      callOffTimeout();
      callOffHeartbeat();
      host.pending.delete(task);
    };
    const pending: PendingTask = {
      settle(type, details, note) {
        if (!open) return;
        close();
        try {
          done(lane.record(type, { ...resource, ...details }, note));
        } catch (error) {
          // The history is full: this event has ended the execution.
          if (!(error instanceof Halted)) throw error;
        }
      },
      beat() {
        callOffHeartbeat();
        if (heartbeatInSeconds !== undefined) {
          callOffHeartbeat = recorder.after(heartbeatInSeconds * 1000, () => timeOut(true));
        }
      },
    };
    pending.beat();
    host.pending.set(task, pending);

    const answered = (payload: unknown) => {
      if (!open) return;
      const output = JSON.stringify({ ExecutedVersion: '$LATEST', Payload: payload ?? null, StatusCode: 200 });
      if (tooLarge(output)) pending.settle('TaskFailed', dataLimitExceeded('lambda'));
      else if (token === undefined) pending.settle('TaskSucceeded', { output });
      else lane.record('TaskSubmitted', { ...resource, output: hide(output, token) });
    };
    if (call) {
      Promise.resolve()
        .then(() => host.invoke(call.functionArn, call.payload, { executionName: host.executionName, stateName: name }))
        .then(answered, (error: unknown) => pending.settle('TaskFailed', failureOf(error)))
        .catch((error: unknown) => {
          if (!(error instanceof Halted)) throw error;
        });
    }
    return close;
  });

const resultOf = ({ type, details, note, at }: Line): unknown => {
  if (type === 'TaskSucceeded') return JSON.parse(details!.output as string);
  const { error, cause } = details as FailureFields;
  throw new Failure({ error, cause, ...(note?.heartbeat === true && { heartbeat: true }) }, at);
};

/** Maximum of characters in a Cause (API reference: TaskFailedEventDetails). */
const maxCause = 32_768;

const failureOf = (thrown: unknown): FailureFields => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  if (error.name.startsWith('Lambda.')) return { error: error.name, cause: error.message.slice(0, maxCause) };
  const payload =
    typeof error.cause === 'string'
      ? error.cause
      : JSON.stringify({ errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') });
  return { error: error.name, cause: payload.slice(0, maxCause) };
};
