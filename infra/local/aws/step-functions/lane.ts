import type { Context } from './context.ts';
import type { Line } from './journal.ts';
import type { LaneRecording } from './recording.ts';
import { Halted, type Scope } from './scope.ts';

/** What a lane needs of its execution. */
export interface Recorder {
  /** Each is taken out by its lane. */
  readonly recordings: Map<string, LaneRecording>;
  record(entry: Omit<Line, 'id' | 'at'>): Line;
  now(): number;
  after(ms: number, run: () => void): () => void;
  flush(): void;
  context(): Context;
  /** When the execution was last redriven; 0 if never. */
  readonly redriven: number;
}

/** Events that the chain of previousEventId leaves aside (seen on AWS). */
const aside = /^(MapIteration(Succeeded|Failed|Aborted)|(Map|Parallel)StateSucceeded|.*StateAborted)$/;

/**
 * One line of states after another: the execution's own, a branch of a Parallel, or an item of a Map. After a restart
 * it first gives back what was recorded, line by line, and only then records anew.
 */
export class Lane {
  readonly path: string;
  readonly scope: Scope;
  readonly recorder: Recorder;
  /** `$$.Map`, within a Map. */
  readonly map: Context['Map'];
  previous: number;
  /** States entered so far; names the lanes of a Map or Parallel. */
  visits = 0;
  /** The state that has been entered and not left. */
  current?: { name: string; type: string };
  #recorded: readonly Line[];
  #position = 0;
  #tasks: number;

  constructor(recorder: Recorder, options: { path: string; scope: Scope; previous: number; map?: Context['Map'] }) {
    this.recorder = recorder;
    this.path = options.path;
    this.scope = options.scope;
    this.previous = options.previous;
    this.map = options.map;
    const recording = recorder.recordings.get(options.path);
    this.#recorded = recording?.lines ?? [];
    this.#tasks = recording?.tasks ?? 0;
    recorder.recordings.delete(options.path);
  }

  get replaying(): boolean {
    return this.#position < this.#recorded.length;
  }

  /** Unique among all attempts of all tasks of the execution, over restarts and redrives. */
  nextTask(): string {
    this.#tasks++;
    return `${this.path}#${this.#tasks}`;
  }

  /** The next recorded line, if it is of one of these types. */
  take(...types: string[]): Line | undefined {
    const line = this.#recorded[this.#position];
    if (!line || !types.includes(line.type)) return undefined;
    this.#position++;
    this.#follow(line);
    return line;
  }

  /** Passes the rest of a state that was left before the restart; gives the line that left it. */
  takeExit(): Line | undefined {
    for (let index = this.#position; index < this.#recorded.length; index++) {
      const line = this.#recorded[index]!;
      if (!line.type.endsWith('StateExited')) continue;
      this.#position = index + 1;
      this.#follow(line);
      return line;
    }
    return undefined;
  }

  /** @throws Halted when the execution or the attempt it belongs to is over */
  record(type: string, details?: Line['details'], note?: Line['note']): Line {
    if (this.scope.cancelled) throw new Halted();
    if (this.replaying) {
      throw new Error(`The journal goes on with ${this.#recorded[this.#position]!.type} where ${type} should be`);
    }
    const line = this.recorder.record({ previous: this.previous, type, lane: this.path || undefined, details, note });
    this.#follow(line);
    return line;
  }

  #follow(line: Line): void {
    // A wait may be long, and many may wait: what was gone through is let go.
    if (this.#recorded.length > 0 && !this.replaying) {
      this.#recorded = [];
      this.#position = 0;
    }
    if (line.id > 0 && !aside.test(line.type)) this.previous = line.id;
  }

  /**
   * Waits for something from outside. `begin` gets what ends the wait and returns what to do when it is called off.
   * What was recorded is on disk first.
   */
  wait<T>(begin: (done: (value: T) => void) => () => void): Promise<T> {
    if (this.scope.cancelled) return Promise.reject(new Halted());
    this.recorder.flush();
    return new Promise((resolve, reject) => {
      const release = this.scope.onCancel(() => {
        callOff();
        reject(new Halted());
      });
      const callOff = begin((value) => {
        release();
        resolve(value);
      });
    });
  }

  /** Until a time in milliseconds since 1970. */
  async sleepUntil(time: number): Promise<void> {
    const ms = time - this.recorder.now();
    if (ms > 0) await this.wait<void>((done) => this.recorder.after(ms, () => done()));
  }

  /** The outcome of an evaluation, unless the lane was halted meanwhile. */
  async settled<T>(promise: Promise<T>): Promise<T> {
    const outcome = await promise.then(
      (value) => () => value,
      (error) => () => {
        throw error;
      },
    );
    if (this.scope.cancelled) throw new Halted();
    return outcome();
  }
}
