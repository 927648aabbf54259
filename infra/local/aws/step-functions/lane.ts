import type { Context } from './context.ts';
import type { Line } from './journal.ts';
import type { LaneRecording } from './recording.ts';
import { Halted, type Scope } from './scope.ts';

/** The part of its execution that a lane uses. */
export interface Recorder {
  /** Each lane removes its own. */
  readonly recordings: Map<string, LaneRecording>;
  record(entry: Omit<Line, 'id' | 'at'>): Line;
  now(): number;
  after(ms: number, run: () => void): () => void;
  flush(): void;
  context(): Context;
}

/** Events outside the chain of previousEventId (seen on AWS). */
const aside = /^(MapIteration(Succeeded|Failed|Aborted)|MapStateSucceeded|.*StateAborted)$/;

/**
 * One sequence of states: the execution's own, or an item of a Map. After a restart it first
 * replays its recorded lines, then records new ones.
 */
export class Lane {
  readonly path: string;
  readonly scope: Scope;
  readonly recorder: Recorder;
  /** `$$.Map`, inside a Map. */
  readonly map: Context['Map'];
  previous: number;
  /** Number of states entered so far; names the lanes of a Map. */
  visits = 0;
  /** The state that was entered and not left. */
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

  /** Unique among all attempts of all tasks of the execution, across restarts and redrives. */
  nextTask(): string {
    this.#tasks++;
    return `${this.path}#${this.#tasks}`;
  }

  /** The next recorded line, if it has one of these types. */
  take(...types: string[]): Line | undefined {
    const line = this.#recorded[this.#position];
    if (!line || !types.includes(line.type)) return undefined;
    this.#position++;
    this.#follow(line);
    return line;
  }

  /** Skips the remaining lines of a state that was left before the restart; returns the line that left it. */
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

  /** @throws Halted if the execution, or the attempt of this lane, has ended */
  record(type: string, details?: Line['details'], note?: Line['note']): Line {
    if (this.scope.cancelled) throw new Halted();
    if (this.replaying) {
      throw new Error(`The journal continues with ${this.#recorded[this.#position]!.type} in place of ${type}`);
    }
    const line = this.recorder.record({ previous: this.previous, type, lane: this.path || undefined, details, note });
    this.#follow(line);
    return line;
  }

  #follow(line: Line): void {
    // A wait may be long, and many lanes may wait: replayed lines are released.
    if (this.#recorded.length > 0 && !this.replaying) {
      this.#recorded = [];
      this.#position = 0;
    }
    if (line.id > 0 && !aside.test(line.type)) this.previous = line.id;
  }

  /**
   * Waits for an outside event. `begin` gets the function that ends the wait, and returns the function that cancels it.
   * Recorded lines are flushed first.
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

  /** The result, unless the lane was halted meanwhile. */
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
