import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Enough for a platform and its runners' files, in memory. */
const megabytes = 300;
const block = Buffer.alloc(1 << 20);
const smallest = 512;

/** A small disk for a platform's data, so that it can be full. Only root on Linux may mount one. */
export class Disk {
  /** Undefined if none can be mounted. */
  static mount(): Disk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'stepform-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=711`, 'stepform-chaos', folder]);
      return new Disk(folder);
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
  }

  readonly folder: string;
  readonly #filler: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#filler = join(folder, 'filler');
  }

  fill(): void {
    const descriptor = openSync(this.#filler, 'a');
    try {
      for (let bytes = block.length; bytes >= smallest; ) {
        try {
          writeSync(descriptor, block, 0, bytes);
        } catch {
          bytes /= 2;
        }
      }
    } finally {
      closeSync(descriptor);
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  /**
   * @param copy folder to copy the disk's content to
   * @returns once it is unmounted
   */
  async unmount(copy?: string): Promise<void> {
    this.free();
    if (copy) await cp(this.folder, copy, { recursive: true });
    execFileSync('umount', ['-l', this.folder]);
    await rm(this.folder, { recursive: true, force: true });
  }
}
