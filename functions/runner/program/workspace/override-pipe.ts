import { close, closeSync, constants, open, openSync, renameSync, rmSync, write, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#platform/net/transport/errors.ts';
import { help } from '../terraform/launch.ts';
import { makeFolder } from './tree.ts';

/** Pipes created by one call of `mkfifo`: a run without modules has four readers. */
const madeAtOnce = 5;

/** Linux's O_PATH, which opens a file's name without opening the file. */
const pathOnly = process.platform === 'linux' ? 0o10000000 : undefined;

/**
 * Serves a text as a named pipe. Terraform reads a pipe like a file, but `fileset` and other searches for regular
 * files skip it, so that a configuration sees the same files here as elsewhere.
 *
 * Each reader gets its own pipe: before the text is written to a pipe, the next one replaces it. Otherwise unread
 * text or the next reader would garble the content. Readers come one after another, as Terraform's do: one that opens
 * the pipe in the instant of its replacement may share it.
 */
export class OverridePipe {
  /** Path of the pipe, in a folder that Terraform's user cannot write: the runner opens it repeatedly. */
  readonly path: string;
  #text = '';
  #made = 0;
  #next: string[] = [];
  /** Handle of the pipe whose reader a Node.js thread waits for. */
  #waiting: number | undefined;
  #problem: string | undefined;
  #closed = false;

  private constructor(path: string) {
    this.path = path;
  }

  get text(): string {
    return this.#text;
  }

  /** @param folder owned by the runner, accessible to Terraform's user */
  static async make(folder: string): Promise<OverridePipe> {
    makeFolder(folder, 0o755);
    const pipe = new OverridePipe(join(folder, 'backend.tf'));
    await pipe.#make([pipe.path]).catch((error: unknown) => {
      pipe.#problem = messageOf(error);
    });
    return pipe;
  }

  /** Serves the text until {@link close}. */
  serve(text: string): void {
    this.#text = text;
    if (this.#problem === undefined) this.#await();
    else this.#fallBack(this.#problem);
  }

  async #make(paths: string[] = []): Promise<void> {
    const next = Array.from({ length: madeAtOnce }, (_, n) => `${this.path}.${this.#made + n}`);
    this.#made += madeAtOnce;
    await help('mkfifo', ['-m', '644', ...paths, ...next]);
    this.#next.push(...next);
  }

  #await(): void {
    if (this.#closed) return;
    try {
      if (pathOnly) this.#waiting = openSync(this.path, pathOnly);
    } catch (error) {
      this.#fallBack(messageOf(error));
      return;
    }
    // Blocks until the pipe has a reader.
    open(this.path, constants.O_WRONLY, (error, file) => {
      if (this.#waiting !== undefined) closeSync(this.#waiting);
      this.#waiting = undefined;
      if (error) this.#fallBack(messageOf(error));
      else this.#answer(file).catch((error: unknown) => this.#fallBack(messageOf(error)));
    });
  }

  async #answer(reader: number): Promise<void> {
    if (this.#closed) {
      close(reader);
      return;
    }
    try {
      if (this.#next.length === 0) await this.#make();
      renameSync(this.#next.shift() as string, this.path);
    } catch (error) {
      close(reader);
      throw error;
    }
    // Asynchronous, because a full pipe would block a synchronous write. A reader that has left is not an error.
    write(reader, this.#text, () => close(reader));
    this.#await();
  }

  /** Replaces the pipe by a file, because a reader of an unserved pipe would wait forever. */
  #fallBack(reason: string): void {
    if (this.#closed) return;
    console.error(`the pipe with the backend's configuration is a file: ${reason}`);
    rmSync(this.path, { force: true });
    writeFileSync(this.path, this.#text, { mode: 0o644 });
  }

  close(): void {
    this.#closed = true;
    // Opens the pipe for reading, because the program cannot end while one of its threads waits for a reader.
    const path = this.#waiting === undefined ? this.path : `/proc/self/fd/${this.#waiting}`;
    try {
      closeSync(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    } catch {
      // No thread waits.
    }
  }
}
