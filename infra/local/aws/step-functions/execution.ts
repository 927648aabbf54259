import type { Entry, Status } from './catalog.ts';
import type { Clock } from './clock.ts';
import type { Context } from './context.ts';
import type { Machine } from './definition.ts';
import type { FailureFields } from './failure.ts';
import { Journal, type Journals, type Line } from './journal.ts';
import type { Recorder } from './lane.ts';
import { isTransition, type LaneRecording, lanesOf } from './recording.ts';
import { Halted, Scope } from './scope.ts';

/** A task attempt that waits for its outcome. */
export interface PendingTask {
  /** Later outcomes are ignored. */
  settle(type: 'TaskSucceeded' | 'TaskFailed' | 'TaskTimedOut', details: object, note?: Line['note']): void;
  /** Restarts the heartbeat interval. */
  beat(): void;
}

/** Errors with which a caller or the service ends an execution. */
export interface End {
  output?: string;
  error?: string;
  cause?: string;
}

/** Maximum of events in a history; the last one is reserved for the end (Developer Guide: quotas). */
export const maxEvents = 25_000;

export interface ExecutionOptions {
  entry: Entry;
  /** Input of StartExecution. */
  input: string;
  machine: Machine;
  journals: Journals;
  clock: Clock;
  roleArn: string;
  /** Existing lines of the journal, after a restart or before a redrive. */
  lines: readonly Line[];
  /** The event that starts or redrives it; absent after a restart. */
  begin?: Pick<Line, 'type' | 'details' | 'note'>;
  ended(end: End): void;
  /** The journal could not be written: the execution ends in memory and resumes from its lines on disk. */
  broken(error: Error): void;
}

const terminal: Record<Exclude<Status, 'RUNNING'>, string> = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  ABORTED: 'ExecutionAborted',
  TIMED_OUT: 'ExecutionTimedOut',
};

const isEntry = ({ type }: Pick<Line, 'type'>): boolean => type.endsWith('StateEntered');

/** A running execution: records its events, enforces its deadline, and holds the waiting tasks. */
export class Execution implements Recorder {
  readonly entry: Entry;
  readonly input: string;
  readonly machine: Machine;
  readonly scope = new Scope();
  readonly recordings: Map<string, LaneRecording>;
  readonly pending = new Map<string, PendingTask>();
  transitions: number;
  readonly #clock: Clock;
  readonly #ended: ExecutionOptions['ended'];
  readonly #journal: Journal;
  readonly #context: Context;
  #events: number;
  /** Time of its last event. */
  #latest: number;

  constructor(options: ExecutionOptions) {
    const { entry, lines } = options;
    this.#clock = options.clock;
    this.#ended = options.ended;
    this.entry = entry;
    this.input = options.input;
    this.machine = options.machine;
    this.#journal = new Journal(options.journals, entry.executionArn, (error) => {
      this.scope.cancel();
      options.broken(error);
    });
    this.#events = lines.findLast(({ id }) => id > 0)?.id ?? 0;
    this.#latest = lines.at(-1)?.at ?? 0;
    this.transitions = lines.filter(isTransition).length;
    const { begin } = options;
    const begun = begin && this.#add({ ...begin, id: this.#events + 1, previous: this.#events, at: this.now() });
    this.recordings = lanesOf(begun ? [...lines, begun] : lines);
    this.#context = {
      Execution: {
        Id: entry.executionArn,
        Input: JSON.parse(options.input),
        Name: entry.name,
        RoleArn: options.roleArn,
        StartTime: new Date(entry.start).toISOString(),
        RedriveCount: entry.redriveCount,
        ...(entry.redriven && { RedriveTime: new Date(entry.redriven).toISOString() }),
      },
      StateMachine: { Id: entry.stateMachineArn, Name: entry.stateMachineArn.split(':').at(-1)! },
    };
    this.#armTimeout();
  }

  /** The machine's TimeoutSeconds, since the start or the last redrive. */
  #armTimeout(): void {
    const { TimeoutSeconds } = this.machine;
    if (TimeoutSeconds === undefined) return;
    const deadline = (this.entry.redriven ?? this.entry.start) + TimeoutSeconds * 1000;
    const callOff = this.after(deadline - this.now(), () => this.finish('TIMED_OUT', { error: 'States.Timeout' }));
    this.scope.onCancel(callOff);
  }

  /** Never earlier than the last event, even if the clock is set back: history and attempts have an order. */
  now(): number {
    return Math.max(this.#latest, this.#clock.now());
  }

  after(ms: number, run: () => void): () => void {
    return this.#clock.after(ms, run);
  }

  context(): Context {
    return this.#context;
  }

  flush(): void {
    this.#journal.flush();
  }

  /** @throws Halted if the execution has ended, or ends now because its history is full */
  record(entry: Omit<Line, 'id' | 'at'>): Line {
    if (this.scope.cancelled) throw new Halted();
    if (entry.type === 'AttemptFailed') return this.#add({ ...entry, id: 0, at: this.now() });
    if (this.#events + 1 >= maxEvents) {
      const cause = `The execution reached the maximum number of history events (${maxEvents}).`;
      this.finish('FAILED', { error: 'States.Runtime', cause }, this.#events);
      throw new Halted();
    }
    return this.#add({ ...entry, id: this.#events + 1, at: this.now() });
  }

  #add(given: Line): Line {
    // Attempts are ordered by the time when their state was entered, then by their number (functions/run/attempts.ts).
    const isLate = isEntry(given) && this.#clock.now() < this.#latest;
    const line = isLate ? { ...given, at: this.#latest + 1 } : given;
    this.#latest = Math.max(this.#latest, line.at);
    this.#journal.add(line);
    if (line.id > 0) this.#events = line.id;
    if (isTransition(line)) this.transitions++;
    return line;
  }

  /** Ends the execution; later events have no effect. Timeouts and aborts have no previous event (AWS). */
  finish(status: Exclude<Status, 'RUNNING'>, end: End | FailureFields, previous = 0): void {
    if (this.scope.cancelled) return;
    const { error, cause } = end;
    const output = 'output' in end ? end.output : undefined;
    const at = this.now();
    this.#add({ id: this.#events + 1, previous, at, type: terminal[status], details: { error, cause, output } });
    this.scope.cancel();
    this.flush();
    Object.assign(this.entry, { status, stop: at, transitions: this.transitions, events: this.#events });
    // The error of a machine's timeout appears only in the history.
    this.#ended(status === 'TIMED_OUT' ? {} : { error, cause, output });
  }

  /** Leaves the journal as it is, so that another process can resume. */
  suspend(): void {
    try {
      this.flush();
    } catch {
      // The lines on disk count.
    }
    this.scope.cancel();
  }
}
