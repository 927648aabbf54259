import { readFile } from 'node:fs/promises';
import { isExpired, messageOf } from '#platform/net/transport/errors.ts';
import type { FileBody } from '#platform/net/transport/http.ts';
import { type PhaseReport, shortened } from '#run/phase-report.ts';
import type { Artifact, Job } from '#run/protocols/runner.ts';
import type { Client } from './client.ts';
import type { Control } from './control.ts';
import { PhaseError, TokenDeadError } from './errors.ts';
import { createOnly, sha256Of, upload } from './transfer.ts';

/** URLs that came with the job are valid for a minute; they are used for this long. */
const givenMs = 40_000;

/** The phase's uploads. */
export class Artifacts {
  readonly #client: Client;
  readonly #control: Control;
  readonly #given: Partial<Record<Artifact, string>>;
  readonly #givenAt = performance.now();
  #urls: Promise<Partial<Record<Artifact, string>>> | undefined;
  /** Stored or enclosed artifacts, for the report. */
  readonly stored: NonNullable<PhaseReport['artifacts']> = {};

  /** Base64 content, sent with the report. */
  readonly enclosed: Partial<Record<Artifact, string>> = {};
  /** Bytes that may still be enclosed. */
  #room: number;

  constructor(client: Client, control: Control, { uploadUrls = {}, enclosedBytes = 0 }: Job) {
    this.#given = uploadUrls;
    this.#room = enclosedBytes;
    this.#client = client;
    this.#control = control;
  }

  /**
   * Requests upload URLs while the phase waits for another step. They expire soon, so call it shortly before the
   * uploads.
   */
  expect(artifacts: Artifact[]): void {
    if (artifacts.every((artifact) => this.#fromJob(artifact))) return;
    this.#urls = this.#ask(artifacts);
    this.#urls.catch(() => {});
  }

  /** Like {@link put}, but sends a small file with the report; the file is lost if the report is not sent. */
  async enclose(artifact: Artifact, body: Uint8Array | FileBody): Promise<void> {
    const size = body instanceof Uint8Array ? body.length : body.size;
    if (size > this.#room) return this.put(artifact, body);
    this.#room -= size;
    const content = body instanceof Uint8Array ? Buffer.from(body) : (await readFile(body.file)).subarray(0, size);
    this.stored[artifact] = shortened(await sha256Of(content));
    this.enclosed[artifact] = content.toString('base64');
  }

  /** @throws {PhaseError} if it cannot be stored */
  async put(artifact: Artifact, body: Uint8Array | FileBody): Promise<void> {
    const patience = this.#control.patience();
    try {
      const store = async () => {
        const url = this.#fromJob(artifact) ?? (await this.#urls?.catch(() => undefined))?.[artifact];
        try {
          await upload(url ?? (await this.#fresh(artifact)), body, patience, createOnly);
        } catch (error) {
          if (!isExpired(error)) throw error;
          await upload(await this.#fresh(artifact), body, patience, createOnly);
        }
      };
      const [sha256] = await Promise.all([sha256Of(body), store()]);
      this.stored[artifact] = shortened(sha256);
    } catch (error) {
      if (error instanceof TokenDeadError || this.#control.over.aborted) throw error;
      throw new PhaseError(`The ${artifact.replaceAll('-', ' ')} could not be uploaded: ${messageOf(error)}.`);
    }
  }

  #fromJob(artifact: Artifact): string | undefined {
    return performance.now() - this.#givenAt < givenMs ? this.#given[artifact] : undefined;
  }

  async #fresh(artifact: Artifact): Promise<string> {
    const url = (await this.#ask([artifact]))[artifact];
    if (!url) throw new Error('the control plane returned no upload URL for it');
    return url;
  }

  async #ask(artifacts: Artifact[]): Promise<Partial<Record<Artifact, string>>> {
    return (await this.#client.uploads({ artifacts })).urls;
  }
}
