import { stat } from 'node:fs/promises';
import { messageOf } from '#platform/net/transport/errors.ts';
import { retryFor } from '#platform/net/transport/retry.ts';
import type { DeferredUpload, ReportAnswer } from '#run/protocols/runner.ts';
import { createOnly, upload } from './transfer.ts';

/** How long one upload is retried. */
const uploadMs = 60_000;

/**
 * Work that the run does not wait for. After the phase's report, creates files and uploads them to the URLs in the
 * response, and then does other work. Failures are only logged.
 */
export class DeferredUploads {
  readonly #work: { what: DeferredUpload; make: () => Promise<string> }[] = [];
  readonly #rest: { what: string; work: () => Promise<void> }[] = [];
  #done: Promise<void> | undefined;
  /** From the response to the report. */
  urls: ReportAnswer['laterUrls'] = {};

  /** `make` returns the path of the file to upload. */
  add(name: DeferredUpload, make: () => Promise<string>): void {
    this.#work.push({ what: name, make });
  }

  /** Adds work without an upload, which runs after all uploads. */
  addWork(name: string, work: () => Promise<void>): void {
    this.#rest.push({ what: name, work });
  }

  /** Runs the uploads once, even if called repeatedly. Never throws. */
  run(): Promise<void> {
    this.#done ??= this.#run();
    return this.#done;
  }

  async #run(): Promise<void> {
    for (const upload of this.#work) {
      await this.#put(upload).catch((error: unknown) =>
        console.error(`${upload.what} could not be stored: ${messageOf(error)}`),
      );
    }
    await this.#doRest();
  }

  async #doRest(): Promise<void> {
    for (const { what, work } of this.#rest)
      await work().catch((error: unknown) => console.error(`${what} failed: ${messageOf(error)}`));
  }

  async #put({ what, make }: { what: DeferredUpload; make: () => Promise<string> }): Promise<void> {
    const url = this.urls[what];
    if (!url) return;
    const file = await make();
    await upload(url, { file, size: (await stat(file)).size }, retryFor(uploadMs), createOnly);
  }
}
