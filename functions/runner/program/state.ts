import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isExpired, messageOf } from '#platform/net/transport/errors.ts';
import {
  type KeptStateKey,
  maxInlineStateBytes,
  type PhaseReport,
  type StateVersionAnswer,
} from '#run/protocols/runner.ts';
import type { Client } from './client.ts';
import type { Control } from './control.ts';
import { writeKeptState } from './kept-states.ts';
import { StateChanges } from './state-changes.ts';
import { md5, readSnapshot, type Snapshot, snapshotOf, whyUnreadable } from './state-snapshot.ts';
import { type Place, unsavedText } from './state-texts.ts';
import type { Owner } from './terraform/owner.ts';
import { upload } from './transfer.ts';

/**
 * Terraform's state during an apply: uploads snapshots as Terraform writes them, and the last one after it has ended,
 * even if it failed.
 */

/**
 * Pause from a change to its snapshot, and between snapshots. Including the upload, written state is safe within two
 * seconds. Shorter pauses would cost more than they save.
 */
const pauseMs = 1000;
/** While Terraform writes a lot, most reads return a partial state; retrying this often finds a complete one. */
const againMs = 10;
const looks = 50;
/** A snapshot that takes longer is superseded by the next one. */
const intermediateMs = 5000;

export interface StateOutcome {
  stateVersionId?: string;
  /** Message for users: why the newest state is not in the workspace, and where it was saved. */
  problem?: string;
  /** The state that was not saved. */
  unsaved?: PhaseReport['unsavedState'];
  /** Terraform's file contains an incomplete state: the previous snapshot counts. */
  torn?: true;
}

/** Fallback for a state that could not be saved to the workspace. */
export interface StateBackup {
  /** Presigned PUT: the job's, or a newer one from a heartbeat. */
  readonly address: { readonly url: string | null };
  /** On the runner's disk, as a last resort. */
  file: string;
  runId: string;
  key: KeptStateKey | null;
  /** Removes files of the run that are not needed once Terraform has ended. */
  freeDisk: () => void;
}

/** Error codes of a file system without space. */
const full = new Set(['ENOSPC', 'EDQUOT']);

/** Part of the host's grace period that is reserved for saving the state elsewhere. */
const spareMs = 8000;

export class StateKeeper {
  readonly #path: string;
  readonly #client: Client;
  readonly #control: Control;
  readonly #refuge: StateBackup;
  readonly #owner: Owner | undefined;
  readonly #changes: StateChanges;
  /** The state that the control plane has: its serial, and the MD5 of Terraform's file. */
  #stored: { serial: number; fileMd5: string } | undefined;
  #whole: Snapshot | undefined;
  #before: string | undefined;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #ended = false;
  #timer: NodeJS.Timeout | undefined;
  #uploading: Promise<void> | undefined;
  #changed = false;

  /** @param owner Terraform's user, where it is not the runner's own */
  constructor(path: string, client: Client, control: Control, refuge: StateBackup, owner?: Owner) {
    this.#path = path;
    this.#client = client;
    this.#control = control;
    this.#refuge = refuge;
    this.#owner = owner;
    this.#changes = new StateChanges(client);
  }

  /** Call it before Terraform starts, when the control plane has the current state. */
  async watch(): Promise<void> {
    const initial = readSnapshot(this.#path, this.#owner);
    if (initial) {
      this.#stored = { serial: initial.serial, fileMd5: initial.md5 };
      this.#changes.startFrom(initial);
    }
    this.#before = initial?.md5;
    try {
      this.#watcher = watch(dirname(this.#path), (_, name) => {
        if (name === basename(this.#path)) this.#touched();
      });
      this.#watcher.on('error', () => this.#ask());
    } catch {
      this.#ask();
    }
  }

  /** Polls where file watches are not available (inotify instances are limited on a shared machine). */
  #ask(): void {
    this.#poll ??= setInterval(() => this.#touched(), pauseMs);
  }

  /**
   * Call it after Terraform has ended. Throws only if the token was revoked.
   * @param options.wasEnded Terraform was killed: its unfinished changes are in no state
   * @param options.dumped the state that it printed because it could not write it
   */
  async finish({ wasEnded = false, dumped }: { wasEnded?: boolean; dumped?: string } = {}): Promise<StateOutcome> {
    this.#ended = true;
    this.#watcher?.close();
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    await this.#uploading;
    const printed = dumped === undefined ? undefined : snapshotOf(Buffer.from(`${dumped}\n`));
    const final = printed ?? readSnapshot(this.#path, this.#owner);
    const torn = final ? undefined : whyUnreadable(this.#path, this.#owner);
    const newest = final ?? this.#whole;
    const isStored = newest?.md5 === this.#stored?.fileMd5 && !this.#changes.isAhead;
    const half = torn ? { problem: torn, torn: true as const } : {};
    if (!newest || (newest.md5 === this.#before && isStored)) return half;
    for (;;) {
      try {
        const { id } = await this.#upload(newest, { intermediate: wasEnded || torn !== undefined });
        return { stateVersionId: id, ...half };
      } catch (error) {
        const { content, serial, lineage, md5 } = this.#numbered(newest);
        if (this.#control.over.aborted) {
          await this.#keep(content);
          throw error;
        }
        const place = await this.#shelter(content);
        const isOnlyHere = place.is === 'nowhere' && this.#control.cause !== 'stopped';
        const text = unsavedText({ serial, before: this.#stored?.serial, why: messageOf(error), place });
        const problem = [torn, text].filter(Boolean).join(' ');
        if (!isOnlyHere) return { ...half, problem, unsaved: { serial, lineage, md5 } };
        // A full disk may get space again, and this is the only copy.
        console.error(problem);
        await sleep(pauseMs);
      }
    }
  }

  /** Saves a state where it survives the runner. Never throws. */
  async #shelter(content: Buffer): Promise<Place> {
    try {
      await this.#uploadErrored(content);
      return { is: 'errored state' };
    } catch (error) {
      console.error(`the errored state was not stored: ${messageOf(error)}`);
      return this.#keep(content);
    }
  }

  /** On the runner's disk. Never throws. */
  async #keep(content: Buffer): Promise<Place> {
    const { file, runId, key, freeDisk } = this.#refuge;
    try {
      if (!key) throw new Error('no encryption key');
      const write = () => writeKeptState(file, content, runId, key);
      await write().catch((error) => {
        if (!full.has(error.code)) throw error;
        freeDisk();
        return write();
      });
      console.error(`the newest state was saved at ${file}`);
      return { is: 'file', file };
    } catch (failure) {
      console.error(`the newest state could not be saved anywhere: ${messageOf(failure)}`);
      return { is: 'nowhere', why: messageOf(failure) };
    }
  }

  async #uploadErrored(content: Buffer): Promise<void> {
    const knownUrl = this.#refuge.address.url;
    const { until, signal } = this.#control.patience();
    try {
      // The bucket may be reachable while the control plane is not, so the known URL is tried first.
      if (knownUrl) return await upload(knownUrl, content, { until, signal });
    } catch (error) {
      if (!isExpired(error)) throw error;
    }
    const { uploadUrl } = await this.#client.erroredState({ until, signal });
    await upload(uploadUrl, content, { until, signal });
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
    }, pauseMs);
  }

  async #snapshot(): Promise<void> {
    this.#changed = false;
    const snapshot = await this.#look();
    if (!snapshot || snapshot.md5 === this.#stored?.fileMd5) return;
    this.#whole = snapshot;
    try {
      const numbered = this.#numbered(snapshot);
      if (await this.#changes.store(numbered, this.#control.patience(intermediateMs, spareMs))) {
        this.#stored = { serial: numbered.serial, fileMd5: snapshot.md5 };
      } else await this.#upload(snapshot, { intermediate: true, ms: intermediateMs });
    } catch (error) {
      // The next change, or the end, uploads a newer state.
      console.error(`an intermediate state was not stored: ${messageOf(error)}`);
    }
  }

  async #look(): Promise<Snapshot | undefined> {
    for (let n = 0; n < looks && !this.#ended; n++) {
      const snapshot = readSnapshot(this.#path, this.#owner);
      if (snapshot) return snapshot;
      await sleep(againMs);
    }
    return undefined;
  }

  async #upload(
    snapshot: Snapshot,
    { intermediate, ms }: { intermediate: boolean; ms?: number },
  ): Promise<StateVersionAnswer> {
    const { content, serial, lineage, md5 } = this.#numbered(snapshot);
    const patience = this.#control.patience(ms, spareMs);
    const inline = content.length <= maxInlineStateBytes ? content.toString('base64') : undefined;
    // For an inline state, the control plane computes the checksum itself.
    const sha256 = inline === undefined ? createHash('sha256').update(content).digest() : undefined;
    const announced = {
      ...{ serial, lineage, md5, size: content.length, intermediate },
      ...(sha256 ? { sha256: sha256.toString('hex') } : { content: inline }),
    };
    const announce = () => this.#client.createStateVersion(announced, patience);
    const headers: Record<string, string> = sha256 ? { 'x-amz-checksum-sha256': sha256.toString('base64') } : {};
    const put = async ({ uploadUrl }: StateVersionAnswer) => {
      if (uploadUrl) await upload(uploadUrl, content, patience, headers);
    };
    const version = await announce();
    await put(version).catch(async (error) => {
      if (!isExpired(error)) throw error;
      await put(await announce());
    });
    if (!version.complete) await this.#client.completeStateVersion(version.id, patience);
    this.#stored = { serial, fileMd5: snapshot.md5 };
    this.#changes.startFrom({ content, md5 });
    return version;
  }

  /**
   * Raises the serial if the final state equals the initial one, for which Terraform keeps the initial serial: the
   * control plane has stored other states in between and must recognize this one as the newest.
   */
  #numbered(snapshot: Snapshot): Snapshot {
    const stored = this.#stored;
    if (!stored || snapshot.serial > stored.serial) return snapshot;
    const serial = snapshot.md5 === stored.fileMd5 ? stored.serial : stored.serial + 1;
    if (serial === snapshot.serial) return snapshot;
    const content = Buffer.from(
      snapshot.content.toString('utf8').replace(/^(\s*"serial":\s*)\d+/m, (_, head: string) => `${head}${serial}`),
    );
    return { ...snapshot, content, serial, md5: md5(content) };
  }
}
