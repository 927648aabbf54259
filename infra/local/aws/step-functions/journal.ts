import { appendFileSync, readFileSync, truncateSync } from 'node:fs';

/**
 * A line of an execution's journal: an event of its history, or (with id 0) a fact that only a restart needs. Only the
 * journal is stored: history, status and the point of resumption are derived from it.
 */
export interface Line {
  id: number;
  previous: number;
  /** Milliseconds since 1970. */
  at: number;
  type: string;
  /** The branch or Map item it belongs to; absent for the execution's own states. */
  lane?: string;
  /** Fields that GetExecutionHistory returns. */
  details?: Record<string, unknown>;
  /** Fields that it does not return. */
  note?: Record<string, unknown>;
}

/** Lines up to the first incomplete one: a process may be killed while it writes. */
const parse = (text: string): { lines: Line[]; bytes: number } => {
  const lines: Line[] = [];
  let from = 0;
  for (let end = text.indexOf('\n'); end !== -1; from = end + 1, end = text.indexOf('\n', from)) {
    try {
      lines.push(JSON.parse(text.slice(from, end)) as Line);
    } catch {
      break;
    }
  }
  return { lines, bytes: Buffer.byteLength(text.slice(0, from)) };
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};

/** Empty if there is no such journal. */
export const readJournal = (file: string): Line[] => parse(textOf(file)).lines;

/** Also cuts off an incomplete last line, so that appended lines can be read. */
export const repairJournal = (file: string): Line[] => {
  const text = textOf(file);
  const { lines, bytes } = parse(text);
  if (bytes < Buffer.byteLength(text)) truncateSync(file, bytes);
  return lines;
};

/**
 * Appends lines. Writes are synchronous, so that each line precedes its effects. There is no fsync: the process may
 * die, but the machine is trusted. The file is opened for each write, because thousands of executions may run.
 */
export class Journal {
  readonly #file: string;
  readonly #onFailure: (error: Error) => void;
  #pending = '';
  #failed: Error | undefined;

  /** @param onFailure called once, after a failed write: the lines on disk count, and this journal accepts no more */
  constructor(file: string, onFailure: (error: Error) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** On disk at the next `flush`, or when the event loop is idle. */
  add(line: Line): void {
    if (this.#pending === '') setImmediate(() => this.#flushLater());
    this.#pending += `${JSON.stringify(line)}\n`;
  }

  /**
   * Call before any effect of the lines is visible outside. After a failed write there are no more writes: lines behind
   * an incomplete one could not be read.
   */
  flush(): void {
    if (this.#failed) throw this.#failed;
    if (this.#pending === '') return;
    try {
      appendFileSync(this.#file, this.#pending);
    } catch (error) {
      this.#failed = error as Error;
      this.#onFailure(this.#failed);
      throw error;
    }
    this.#pending = '';
  }

  #flushLater(): void {
    try {
      this.flush();
    } catch {
      // onFailure reports it.
    }
  }
}
