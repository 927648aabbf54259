import { createWriteStream, mkdirSync, readdirSync, renameSync, rmSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';

const maxBytes = 20 * 1024 * 1024;
/** Logs of runners, one file each. */
const keptMs = 30 * 24 * 3_600_000;

/**
 * One log file per function (and one for the platform), written in the background; a large one is renamed at the start.
 */
export class Logs {
  readonly #folder: string;
  readonly #streams = new Map<string, WriteStream>();
  readonly #tell: (line: string) => void;
  #hasFailed = false;

  /** @param tell called when logs cannot be written, and again when they fail after a recovery */
  constructor(folder: string, tell: (line: string) => void = console.error) {
    this.#folder = folder;
    this.#tell = tell;
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      const { mtimeMs } = statSync(file);
      if (name.startsWith('runner-') && Date.now() - mtimeMs > keptMs) rmSync(file);
    }
  }

  write(id: string, text: string): void {
    let stream = this.#streams.get(id);
    if (!stream) {
      const file = join(this.#folder, `${id.replace(/Function([0-9A-F]{8})?$/, '')}.log`);
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) renameSync(file, `${file}.1`);
      stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
      // A full disk must not end the platform. A failed stream is useless: the next line opens another.
      stream.on('error', (error) => this.#fail(id, error));
      this.#streams.set(id, stream);
    }
    stream.write(text, (error) => {
      if (!error) this.#hasFailed = false;
    });
  }

  #fail(id: string, { message }: Error): void {
    this.#streams.delete(id);
    if (!this.#hasFailed) this.#tell(`Logs cannot be written to ${this.#folder}: ${message}`);
    this.#hasFailed = true;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#streams.values()].map((stream) => new Promise((resolve) => stream.end(resolve))));
  }
}
