import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type KeptStateKey,
  maxInlineStateBytes,
  type PhaseReport,
  type StateVersionAnswer,
} from '../protocols/runner.ts';
import { isExpired, messageOf } from '../transport/errors.ts';
import type { Client } from './client.ts';
import type { Control } from './control.ts';
import { writeKeptState } from './kept-state.ts';
import { StateChanges } from './state-changes.ts';
import { upload } from './transfer.ts';
import { readOwn } from './workspace/tree.ts';

/**
 * Terraform's state during an apply: snapshots are uploaded as Terraform writes them, the last one after it has ended,
 * however it ended.
 */

export interface Snapshot {
  content: Buffer;
  md5: string;
  serial: number;
  lineage: string;
}

/**
 * From a change to its snapshot, and between snapshots: including the upload, written state is safe within two seconds.
 * More often would cost more than it saves.
 */
const pauseMs = 1000;
/** While Terraform writes a lot, most reads see half a state; one of many in a row sees a whole one. */
const againMs = 10;
const looks = 50;
/** A snapshot that takes longer is superseded by the next one. */
const intermediateMs = 5000;

const tornText =
  'Terraform was killed while it wrote its state. Its last changes are not recorded, and the state may be stale. ' +
  'Compare it with what exists (a refresh-only run) before the next apply.';

const md5 = (content: Buffer): string => createHash('md5').update(content).digest('hex');

/**
 * Undefined unless the file is a complete state: Terraform writes it in place, so a read may see half of it. Read
 * synchronously: read in pieces, a large state would hardly ever be complete.
 */
const readSnapshot = (path: string): Snapshot | undefined => {
  try {
    const content = readOwn(path);
    // Some versions of OpenTofu end it with more than one line break.
    if (content.subarray(-16).toString('latin1').trimEnd().at(-1) !== '}') return undefined;
    const { serial, lineage } = JSON.parse(content.toString('utf8')) as { serial: unknown; lineage: unknown };
    if (!Number.isSafeInteger(serial) || typeof lineage !== 'string') return undefined;
    return { content, md5: md5(content), serial: serial as number, lineage };
  } catch {
    return undefined;
  }
};

export interface StateOutcome {
  stateVersionId?: string;
  /** Message for users: why the newest state is not in the workspace, and where it was saved. */
  problem?: string;
  /** The state that was not saved. */
  unsaved?: PhaseReport['unsavedState'];
}

/** Fallback for a state that could not be saved to the workspace. */
export interface StateBackup {
  /** Presigned PUT: the job's, or a newer one from a heartbeat. */
  readonly address: { readonly url: string | null };
  /** On the runner's disk, as a last resort. */
  file: string;
  runId: string;
  key: KeptStateKey | null;
}

/** Part of the host's grace period that is reserved for saving the state elsewhere. */
const spareMs = 8000;

export class StateKeeper {
  readonly #path: string;
  readonly #client: Client;
  readonly #control: Control;
  readonly #refuge: StateBackup;
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

  constructor(path: string, client: Client, control: Control, refuge: StateBackup) {
    this.#path = path;
    this.#client = client;
    this.#control = control;
    this.#refuge = refuge;
    this.#changes = new StateChanges(client);
  }

  /** Must be called before Terraform starts: the state at that time is the control plane's. */
  async watch(): Promise<void> {
    const initial = readSnapshot(this.#path);
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

  /** Where file watches are not available (inotify instances are limited on a shared machine). */
  #ask(): void {
    this.#poll ??= setInterval(() => this.#touched(), pauseMs);
  }

  /** Must be called when Terraform has ended. Throws only if the token is dead. */
  async finish(): Promise<StateOutcome> {
    this.#ended = true;
    this.#watcher?.close();
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    await this.#uploading;
    const final = readSnapshot(this.#path);
    const torn = !final && (await stat(this.#path).catch(() => undefined))?.size ? tornText : undefined;
    const newest = final ?? this.#whole;
    const isStored = newest?.md5 === this.#stored?.fileMd5 && !this.#changes.isAhead;
    if (!newest || (newest.md5 === this.#before && isStored)) return { problem: torn };
    try {
      const { id } = await this.#upload(newest, false);
      return { stateVersionId: id, problem: torn };
    } catch (error) {
      const { content, serial, lineage, md5 } = this.#numbered(newest);
      if (this.#control.over.aborted) {
        await this.#keep(content);
        throw error;
      }
      const place = await this.#shelter(content);
      const problem = [torn, this.#lost(serial, error, place)].filter(Boolean).join(' ');
      return { problem, unsaved: { serial, lineage, md5 } };
    }
  }

  #lost(serial: number, error: unknown, { place, errored }: { place: string; errored: boolean }): string {
    const workspaceState = this.#stored ? `still has serial ${this.#stored.serial}` : 'still has no state';
    const remedy = errored
      ? 'Download it, then push it with "terraform state push".'
      : 'The operator of this platform can decrypt it ("npx stepform open-state"). Then push it with "terraform state push".';
    return (
      `The state of this apply (serial ${serial}) could not be saved to the workspace, which ${workspaceState}: ` +
      `${messageOf(error).replace(/\.$/, '')}. The newer state was saved ${place}. ${remedy} ` +
      'Until then the workspace is locked, so that no resource is created twice.'
    );
  }

  /** Saves a state where it survives the runner. Never throws. */
  async #shelter(content: Buffer): Promise<{ place: string; errored: boolean }> {
    try {
      await this.#uploadErrored(content);
      return { place: "as this apply's errored state", errored: true };
    } catch (error) {
      console.error(`the errored state was not stored: ${messageOf(error)}`);
      return { place: `by the runner, encrypted, at ${await this.#keep(content)}`, errored: false };
    }
  }

  /** @returns the path */
  async #keep(content: Buffer): Promise<string> {
    const { file, runId, key } = this.#refuge;
    const stored = key ? writeKeptState(file, content, runId, key) : Promise.reject(new Error('no encryption key'));
    const place = await stored.then(
      () => file,
      (failure: unknown) => `nowhere: ${messageOf(failure)}`,
    );
    console.error(`the newest state was saved at ${place}`);
    return place;
  }

  async #uploadErrored(content: Buffer): Promise<void> {
    const knownUrl = this.#refuge.address.url;
    const { until, signal } = this.#control.patience();
    try {
      // The bucket may be reachable when the control plane is not, so use the URL at hand.
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
      } else await this.#upload(snapshot, true);
    } catch (error) {
      // The next change, or the end, tries again with a newer state.
      console.error(`an intermediate state was not stored: ${messageOf(error)}`);
    }
  }

  async #look(): Promise<Snapshot | undefined> {
    for (let n = 0; n < looks && !this.#ended; n++) {
      const snapshot = readSnapshot(this.#path);
      if (snapshot) return snapshot;
      await sleep(againMs);
    }
    return undefined;
  }

  async #upload(snapshot: Snapshot, intermediate: boolean): Promise<StateVersionAnswer> {
    const { content, serial, lineage, md5 } = this.#numbered(snapshot);
    const patience = this.#control.patience(intermediate ? intermediateMs : undefined, spareMs);
    const inline = content.length <= maxInlineStateBytes ? content.toString('base64') : undefined;
    // For an inline state, the control plane computes its own.
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
   * Terraform keeps the serial when a state has become again what it was at the start; but the control plane has seen
   * the states in between and must be able to tell which is newer.
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
