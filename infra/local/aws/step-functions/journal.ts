import { appendFileSync, readFileSync, truncateSync } from 'node:fs';

/**
 * A line of an execution's journal: an event of its history, or (with id 0) something only a restart needs to know.
 * The journal is all that is kept; history, status and the point to go on from are read from it.
 */
export interface Line {
  id: number;
  previous: number;
  /** Milliseconds since 1970. */
  at: number;
  type: string;
  /** The branch or Map item it belongs to; absent in the execution's own line of states. */
  lane?: string;
  /** As GetExecutionHistory shows them. */
  details?: Record<string, unknown>;
  /** As it does not. */
  note?: Record<string, unknown>;
}

/** Lines up to the first that is not whole: a process may be killed while it writes. */
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

/** Empty when there is no such journal. */
export const readJournal = (file: string): Line[] => parse(textOf(file)).lines;

/** The same, and takes a half-written end away, so that what is appended can be read. */
export const repairJournal = (file: string): Line[] => {
  const text = textOf(file);
  const { lines, bytes } = parse(text);
  if (bytes < Buffer.byteLength(text)) truncateSync(file, bytes);
  return lines;
};

/**
 * Appends lines. Writes are synchronous, so that nothing happens between a line and what follows from it; no fsync, as
 * the process may die but the machine is trusted. The file is opened for each write: thousands of executions may run.
 */
export class Journal {
  readonly #file: string;
  readonly #onFailure: (error: Error) => void;
  #pending = '';
  #failed: Error | undefined;

  /** @param onFailure called once, when a write has failed: what is on disk is what counts, and this journal is over */
  constructor(file: string, onFailure: (error: Error) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** On disk at the next `flush`, or else when the process has nothing better to do. */
  add(line: Line): void {
    if (this.#pending === '') setImmediate(() => this.#flushLater());
    this.#pending += `${JSON.stringify(line)}\n`;
  }

  /**
   * To be called before anything outside can see an effect of the lines. Once a write has failed none follows: what came
   * behind a torn line could not be read.
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
      // Told by onFailure.
    }
  }
}
