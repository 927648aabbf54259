import type { Entry, Status } from './catalog.ts';
import type { Clock } from './clock.ts';
import type { Context } from './context.ts';
import type { Machine } from './definition.ts';
import type { FailureFields } from './failure.ts';
import { Journal, type Line } from './journal.ts';
import type { Recorder } from './lane.ts';
import { isTransition, type LaneRecording, lanesOf } from './recording.ts';
import { Halted, Scope } from './scope.ts';

/** A task attempt that waits for its outcome. */
export interface PendingTask {
  /** Only the first outcome counts. */
  settle(type: 'TaskSucceeded' | 'TaskFailed' | 'TaskTimedOut', details: object, note?: Line['note']): void;
  /** Starts the heartbeat interval anew. */
  beat(): void;
}

/** Errors a person or the service ends an execution with. */
export interface End {
  output?: string;
  error?: string;
  cause?: string;
}

/** Events that a history may have; the last place is kept for the end (Developer Guide: quotas). */
export const maxEvents = 25_000;

export interface ExecutionOptions {
  entry: Entry;
  /** As given to StartExecution. */
  input: string;
  machine: Machine;
  journalFile: string;
  clock: Clock;
  roleArn: string;
  /** What the journal already has, after a restart or before a redrive. */
  lines: readonly Line[];
  /** The event that starts or redrives it; absent after a restart. */
  begin?: Pick<Line, 'type' | 'details' | 'note'>;
  ended(end: End): void;
  /** Its journal could not be written: it is over in memory, and continues from what is on disk. */
  broken(error: Error): void;
}

const terminal: Record<Exclude<Status, 'RUNNING'>, string> = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  ABORTED: 'ExecutionAborted',
  TIMED_OUT: 'ExecutionTimedOut',
};

const isEntry = ({ type }: Pick<Line, 'type'>): boolean => type.endsWith('StateEntered');

/** A running execution: records its events, keeps its deadline, and knows the tasks that wait. */
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
  /** Of its last event. */
  #latest: number;

  constructor(options: ExecutionOptions) {
    const { entry, lines } = options;
    this.#clock = options.clock;
    this.#ended = options.ended;
    this.entry = entry;
    this.input = options.input;
    this.machine = options.machine;
    this.#journal = new Journal(options.journalFile, (error) => {
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

  /** The machine's TimeoutSeconds, counted from the start or the last redrive. */
  #armTimeout(): void {
    const { TimeoutSeconds } = this.machine;
    if (TimeoutSeconds === undefined) return;
    const deadline = (this.entry.redriven ?? this.entry.start) + TimeoutSeconds * 1000;
    const callOff = this.after(deadline - this.now(), () => this.finish('TIMED_OUT', { error: 'States.Timeout' }));
    this.scope.onCancel(callOff);
  }

  /** Never before its last event, also when the clock was set back: the history has an order, and so have attempts. */
  now(): number {
    return Math.max(this.#latest, this.#clock.now());
  }

  after(ms: number, run: () => void): () => void {
    return this.#clock.after(ms, run);
  }

  context(): Context {
    return this.#context;
  }

  get redriven(): number {
    return this.entry.redriven ?? 0;
  }

  flush(): void {
    this.#journal.flush();
  }

  /** @throws Halted when the execution is over, or ends by this event because its history is full */
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
    // Attempts are ordered by when their state was entered, and then by their number (functions/run/attempts.ts).
    const isLate = isEntry(given) && this.#clock.now() < this.#latest;
    const line = isLate ? { ...given, at: this.#latest + 1 } : given;
    this.#latest = Math.max(this.#latest, line.at);
    this.#journal.add(line);
    if (line.id > 0) this.#events = line.id;
    if (isTransition(line)) this.transitions++;
    return line;
  }

  /** Ends the execution; what happens in it afterwards has no effect. Times out and aborts hang from no event (AWS). */
  finish(status: Exclude<Status, 'RUNNING'>, end: End | FailureFields, previous = 0): void {
    if (this.scope.cancelled) return;
    const { error, cause } = end;
    const output = 'output' in end ? end.output : undefined;
    const at = this.now();
    this.#add({ id: this.#events + 1, previous, at, type: terminal[status], details: { error, cause, output } });
    this.scope.cancel();
    this.flush();
    Object.assign(this.entry, { status, stop: at, transitions: this.transitions, events: this.#events });
    // A machine's timeout shows its error in the history only.
    this.#ended(status === 'TIMED_OUT' ? {} : { error, cause, output });
  }

  /** Leaves it as it is on disk, to be resumed by another process. */
  suspend(): void {
    try {
      this.flush();
    } catch {
      // What is on disk counts.
    }
    this.scope.cancel();
  }
}
