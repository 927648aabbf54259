import { createWriteStream, mkdirSync, readdirSync, renameSync, rmSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

const dayMs = 24 * 3_600_000;
/** Logs of runners, one file each. */
const keptMs = 30 * dayMs;

/**
 * One log file per function (and one for the platform), written in the background. A large one becomes `<name>.log.1`, in
 * place of the one before; a platform may run for months.
 */
export class Logs {
  readonly #folder: string;
  readonly #streams = new Map<string, { stream: WriteStream; bytes: number }>();
  readonly #tell: (line: string) => void;
  readonly #maxBytes: number;
  #hasFailed = false;
  #prunedAt = 0;

  /** @param tell called when logs cannot be written, and again when they fail after a recovery */
  constructor(folder: string, tell: (line: string) => void = console.error, maxBytes = 20 * 1024 * 1024) {
    this.#folder = folder;
    this.#tell = tell;
    this.#maxBytes = maxBytes;
    mkdirSync(folder, { recursive: true });
    this.#prune();
  }

  write(id: string, text: string): void {
    if (Date.now() - this.#prunedAt > dayMs) this.#prune();
    const file = join(this.#folder, `${id.replace(/Function([0-9A-F]{8})?$/, '')}.log`);
    const open = this.#streams.get(id) ?? this.#open(id, file);
    open.stream.write(text, (error) => {
      if (!error) this.#hasFailed = false;
    });
    open.bytes += Buffer.byteLength(text);
    if (open.bytes <= this.#maxBytes || open.stream.pending) return;
    // Lines that are still being written go to the renamed file.
    open.stream.end();
    this.#streams.delete(id);
    renameSync(file, `${file}.1`);
  }

  #open(id: string, file: string): { stream: WriteStream; bytes: number } {
    const open = {
      stream: createWriteStream(file, { flags: 'a', mode: 0o600 }),
      bytes: statSync(file, { throwIfNoEntry: false })?.size ?? 0,
    };
    // A full disk must not end the platform. A failed stream is useless: the next line opens another.
    open.stream.on('error', (error) => this.#fail(id, error));
    this.#streams.set(id, open);
    return open;
  }

  /** Removes old logs of runners; each runner has a file. */
  #prune(): void {
    this.#prunedAt = Date.now();
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      if (name.startsWith('runner-') && Date.now() - statSync(file).mtimeMs > keptMs) rmSync(file);
    }
  }

  #fail(id: string, { message }: Error): void {
    this.#streams.delete(id);
    if (!this.#hasFailed) this.#tell(`Logs cannot be written to ${this.#folder}: ${message}`);
    this.#hasFailed = true;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#streams.values()].map(({ stream }) => new Promise((resolve) => stream.end(resolve))));
  }
}
