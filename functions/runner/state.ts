import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Client } from './client.ts';
import type { Control } from './control.ts';
import { messageOf } from './errors.ts';
import type { StateVersionAnswer } from './protocol.ts';
import { upload } from './transfer.ts';

/**
 * Terraform's state while it applies: snapshots go to the control plane as Terraform writes it, the last one when it has
 * ended, however it ended (state.md: what is kept).
 */

export interface Snapshot {
  content: Buffer;
  md5: string;
  serial: number;
  lineage: string;
}

/** Pause between snapshots: first as short as a change should be visible, then such that long applies stay cheap. */
const firstMs = 1000;
const longestMs = 4000;
/** A snapshot that takes longer is overtaken by the next one. */
const intermediateMs = 5000;

const tornText =
  'Terraform was ended while it wrote its state: what it did last is not recorded, and the state may be stale. ' +
  'Compare it with what exists (a refresh-only run) before the next apply.';

const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');

/** Undefined unless the file is a whole state: Terraform writes it in place, so that one may see half of it. */
export const readSnapshot = async (path: string): Promise<Snapshot | undefined> => {
  try {
    const content = await readFile(path);
    const { serial, lineage } = JSON.parse(content.toString('utf8')) as { serial: unknown; lineage: unknown };
    if (!Number.isSafeInteger(serial) || typeof lineage !== 'string') return undefined;
    return { content, md5: md5(content), serial: serial as number, lineage };
  } catch {
    return undefined;
  }
};

export interface StateOutcome {
  stateVersionId?: string;
  /** Where the same state may be put as JSON. */
  jsonUploadUrl?: string;
  /** For people: why the newest state is not stored, and where it is. */
  problem?: string;
}

export class StateKeeper {
  readonly #path: string;
  readonly #client: Client;
  readonly #control: Control;
  /** Where a state goes that nobody takes. */
  readonly #keepAt: string;
  /** What the control plane has: the serial it knows, and the MD5 of the file as Terraform wrote it. */
  #stored: { serial: number; fileMd5: string } | undefined;
  #whole: Snapshot | undefined;
  #before: string | undefined;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #ended = false;
  #timer: NodeJS.Timeout | undefined;
  #uploading: Promise<void> | undefined;
  #changed = false;
  #pauseMs = firstMs;

  constructor(path: string, client: Client, control: Control, keepAt: string) {
    this.#path = path;
    this.#client = client;
    this.#control = control;
    this.#keepAt = keepAt;
  }

  /** To be called before Terraform starts: what is there now is what the control plane has. */
  async watch(): Promise<void> {
    const before = await readSnapshot(this.#path);
    if (before) this.#stored = { serial: before.serial, fileMd5: before.md5 };
    this.#before = before?.md5;
    try {
      this.#watcher = watch(dirname(this.#path), (_, name) => {
        if (name === basename(this.#path)) this.#touched();
      });
      this.#watcher.on('error', () => this.#look());
    } catch {
      this.#look();
    }
  }

  /** Where the system has no watch to give (inotify's are few on a shared machine). */
  #look(): void {
    this.#poll ??= setInterval(() => this.#touched(), longestMs);
  }

  /** To be called when Terraform has ended. Never throws, unless the token is dead. */
  async finish(): Promise<StateOutcome> {
    this.#ended = true;
    this.#watcher?.close();
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    await this.#uploading;
    const last = await readSnapshot(this.#path);
    const torn = !last && (await stat(this.#path).catch(() => undefined))?.size ? tornText : undefined;
    const newest = last ?? this.#whole;
    if (!newest || (newest.md5 === this.#before && newest.md5 === this.#stored?.fileMd5)) return { problem: torn };
    try {
      const { id, jsonUploadUrl } = await this.#upload(newest, false);
      return { stateVersionId: id, jsonUploadUrl, problem: torn };
    } catch (error) {
      const place = await this.keep(newest).catch((failure: unknown) => `nowhere: ${messageOf(failure)}`);
      if (this.#control.over.aborted) throw error;
      return {
        problem:
          `The state of this apply (serial ${newest.serial}) could not be stored: ${messageOf(error)}. ` +
          `The platform has serial ${this.#stored?.serial ?? 0}; the newer state is kept by the runner at ${place}.`,
      };
    }
  }

  /** Writes the state where it survives the job's directory; returns the path. */
  async keep(snapshot: Snapshot): Promise<string> {
    await mkdir(dirname(this.#keepAt), { recursive: true, mode: 0o700 });
    await writeFile(this.#keepAt, snapshot.content, { mode: 0o600 });
    return this.#keepAt;
  }

  #touched(): void {
    this.#changed = true;
    if (this.#timer || this.#uploading) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#uploading = this.#snapshot().finally(() => {
        this.#uploading = undefined;
        if (this.#changed && !this.#ended) this.#touched();
      });
    }, this.#pauseMs);
    this.#pauseMs = Math.min(longestMs, this.#pauseMs * 1.5);
  }

  async #snapshot(): Promise<void> {
    this.#changed = false;
    const snapshot = await readSnapshot(this.#path);
    if (!snapshot || snapshot.md5 === this.#stored?.fileMd5) return;
    this.#whole = snapshot;
    try {
      await this.#upload(snapshot, true);
    } catch (error) {
      // The next change, or the end, tries again with a newer one.
      console.error(`an intermediate state was not stored: ${messageOf(error)}`);
    }
  }

  async #upload(found: Snapshot, intermediate: boolean): Promise<StateVersionAnswer> {
    const { content, serial, lineage, md5 } = this.#numbered(found);
    const patience = this.#control.patience(intermediate ? intermediateMs : undefined);
    const version = await this.#client.createStateVersion(
      { serial, lineage, md5, size: content.length, intermediate },
      patience,
    );
    if (version.uploadUrl) await upload(version.uploadUrl, content, patience);
    await this.#client.completeStateVersion(version.id, patience);
    this.#stored = { serial, fileMd5: found.md5 };
    return version;
  }

  /**
   * Terraform leaves the serial alone when a state has become again what it was at the start; the control plane,
   * which has seen what was in between, must still be able to tell which one is newer.
   */
  #numbered(found: Snapshot): Snapshot {
    const stored = this.#stored;
    if (!stored || found.serial > stored.serial) return found;
    const serial = found.md5 === stored.fileMd5 ? stored.serial : stored.serial + 1;
    if (serial === found.serial) return found;
    const content = Buffer.from(
      found.content.toString('utf8').replace(/^(\s*"serial":\s*)\d+/m, (_, head: string) => `${head}${serial}`),
    );
    return { ...found, content, serial, md5: md5(content) };
  }
}

/** Where a run's state is kept when it cannot be stored. */
export const keptStatePath = (cacheDirectory: string, runId: string): string =>
  join(cacheDirectory, 'unsaved-states', `${runId}.tfstate`);
