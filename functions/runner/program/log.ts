import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Mask } from '#platform/formats/mask.ts';
import { messageOf } from '#platform/net/transport/errors.ts';
import type { Heartbeat } from '#run/protocols/runner.ts';
import { BeyondLimit } from './beyond-limit.ts';
import { HeldBytes } from './held-bytes.ts';

/** Framing of a log: its first and last byte (HCP API: log-read-url). */
const stx = Buffer.from([0x02]);
const etx = Buffer.from([0x03]);

/** Terraform's output must not contain the end byte: readers would not see the rest. */
const unframed = (bytes: Buffer): Buffer => {
  if (!bytes.includes(etx)) return bytes;
  const text = Buffer.from(bytes);
  for (let at = text.indexOf(etx); at >= 0; at = text.indexOf(etx, at)) text[at] = replacement;
  return text;
};
const replacement = 0x3f;

const pieceBytes = 65_536;
/**
 * Output is buffered this long before it is sent: a chatty apply costs five calls a second instead of hundreds, and
 * readers see it within 300 ms.
 */
const gatherMs = 200;
/** The log's heading is sent with the output that follows, or after this long. */
const headingMs = 1000;
/** How long sending the end of a log is retried. */
const closingMs = 300_000;

const cutNote = (limit: number): string =>
  `\n(This log has reached its limit of ${Math.floor(limit / 1024 / 1024)} MiB. Of what follows, it has results, errors and the end. Terraform continues.)\n\n`;
/** Share of the limit that results may take beyond it. */
const beyondShare = 1 / 4;

type Send = (offset: number, bytes: Uint8Array) => Promise<Heartbeat>;

/**
 * The log of one phase: written to a file at once, and sent from there in pieces, one at a time and in order, so that
 * a slow or unreachable control plane does not delay Terraform. On a full disk the log continues in memory and its
 * file is emptied, because Terraform's state needs the space more.
 */
export class PhaseLog {
  /** The framed log, complete once closed; stored when the phase is over. */
  readonly path: string;
  #file: number | undefined;
  /** Unsent bytes, if the file cannot be written. */
  #held: HeldBytes | undefined;
  readonly #mask: Mask;
  readonly #limit: number;
  readonly #send: Send;
  readonly #heed: (beat: Heartbeat) => void;
  #written = 0;
  #sent = 0;
  /** A piece of at most this many bytes does not justify a request. */
  #heading = stx.length;
  #headingTimer: NodeJS.Timeout | undefined;
  /** After the limit. */
  #beyond: BeyondLimit | undefined;
  #closed = false;
  /** Output that is not sent yet stays unsent. */
  #enough = false;
  #failed: unknown;
  #wake: (() => void) | undefined;
  readonly #hurry = new AbortController();
  readonly #sending: Promise<void>;

  constructor(path: string, options: { limitBytes: number; mask: Mask; send: Send; heed: (beat: Heartbeat) => void }) {
    this.path = path;
    this.#mask = options.mask;
    this.#limit = options.limitBytes;
    this.#send = options.send;
    this.#heed = options.heed;
    try {
      this.#file = openSync(path, 'w+', 0o600);
    } catch (error) {
      this.#leaveFile(error);
    }
    this.#append(stx);
    this.#sending = this.#loop();
  }

  /** Bytes, including the framing. */
  get size(): number {
    return this.#written;
  }

  /** Whether the file has all of it. */
  get isOnDisk(): boolean {
    return this.#held === undefined;
  }

  /** Terraform's output, with sensitive values masked. */
  write(bytes: Buffer): void {
    this.#limited(this.#mask.push(unframed(bytes)));
  }

  /** A message of the runner, on separate lines. */
  note(text: string): void {
    this.#limited(this.#mask.end());
    this.#limited(unframed(Buffer.from(this.#mask.text(text.endsWith('\n') ? text : `${text}\n`))));
  }

  /** Writes the heading, which readers need not see before the next lines. */
  head(text: string): void {
    const isFirst = this.#written === stx.length;
    this.note(text);
    if (!isFirst) return;
    this.#heading = this.#written;
    this.#headingTimer = setTimeout(() => {
      this.#heading = stx.length;
      this.#wake?.();
    }, headingMs).unref();
  }

  /** An error, formatted like Terraform's. */
  error(text: string): void {
    this.note(`\n\u001B[31m\u001B[1mError: \u001B[0m${text}`);
  }

  /** Ends the log: completes its file; the rest is still to be sent. */
  end(): void {
    if (this.#closed) return;
    this.#limited(this.#mask.end());
    if (this.#beyond) this.#append(this.#beyond.end());
    this.#closed = true;
    this.#append(etx);
  }

  /**
   * Sends the rest, and gives up after a time limit. With `send: false`, only waits for the request in flight,
   * because readers get the rest from the stored log.
   */
  async close({ send = true } = {}): Promise<void> {
    this.end();
    this.#enough = !send;
    clearTimeout(this.#headingTimer);
    this.#hurry.abort();
    this.#wake?.();
    await Promise.race([this.#sending, sleep(closingMs, undefined, { ref: false })]);
    if (this.#failed) console.error(`the end of the log was not sent: ${messageOf(this.#failed)}`);
    if (this.#file !== undefined) closeSync(this.#file);
  }

  #limited(bytes: Buffer): void {
    if (bytes.length === 0 || this.#closed) return;
    if (this.#beyond) {
      this.#append(this.#beyond.push(bytes));
      return;
    }
    const room = this.#limit - this.#written;
    // Cut at the end of a line, which readers may parse.
    const fits = bytes.length <= room ? bytes.length : bytes.subarray(0, Math.max(0, room)).lastIndexOf('\n') + 1;
    this.#append(bytes.subarray(0, fits));
    if (fits === bytes.length) return;
    this.#append(Buffer.from(cutNote(this.#limit)));
    this.#beyond = new BeyondLimit(this.#limit * beyondShare);
    this.#append(this.#beyond.push(bytes.subarray(fits)));
  }

  #append(bytes: Buffer): void {
    if (this.#file !== undefined && !this.#held) this.#write(this.#file, bytes);
    this.#held?.push(bytes);
    this.#written += bytes.length;
    // A moment later, so that output written together is sent together.
    if (this.#wake) queueMicrotask(this.#wake);
  }

  #write(file: number, bytes: Buffer): void {
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(file, bytes, done, bytes.length - done, this.#written + done);
    } catch (error) {
      this.#leaveFile(error);
    }
  }

  #leaveFile(error: unknown): void {
    console.error(`the log continues in memory: ${messageOf(error)}`);
    this.#held = new HeldBytes(this.#sent, this.#read(this.#sent, this.#written - this.#sent));
    try {
      if (this.#file !== undefined) ftruncateSync(this.#file, 0);
    } catch (failure) {
      console.error(messageOf(failure));
    }
  }

  #read(offset: number, length: number): Buffer {
    if (this.#held) return this.#held.read(offset, length);
    const bytes = Buffer.alloc(length);
    return this.#file === undefined ? bytes : bytes.subarray(0, readSync(this.#file, bytes, 0, length, offset));
  }

  async #loop(): Promise<void> {
    try {
      while (this.#written <= this.#heading && !this.#closed) await this.#more();
      while (!this.#hurry.signal.aborted || (this.#sent < this.#written && !this.#enough)) {
        if (this.#sent === this.#written) await this.#more();
        else await this.#piece();
      }
    } catch (error) {
      this.#failed = error;
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #piece(): Promise<void> {
    const { signal } = this.#hurry;
    if (this.#written - this.#sent < pieceBytes && !signal.aborted) {
      await sleep(gatherMs, undefined, { signal }).catch(() => {});
      if (this.#enough) return;
    }
    const piece = this.#read(this.#sent, Math.min(pieceBytes, this.#written - this.#sent));
    // A retry sends the same bytes at the same offset.
    this.#heed(await this.#send(this.#sent, piece));
    this.#sent += piece.length;
    this.#held?.drop(this.#sent);
  }
}
