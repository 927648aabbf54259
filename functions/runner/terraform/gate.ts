import { chmodSync, closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { give } from '../workspace/tree.ts';
import type { Owner } from './owner.ts';

/**
 * Holds a Terraform back that was started ahead. Once it has loaded itself, which takes it some 20 ms, the first file that
 * it opens are its user's settings (`cliconfig.LoadConfig` in its source): here a pipe, whose opening waits for the runner.
 */

const settingsFile = '.terraformrc';
/** In their place, or instead of them: with one of these it would not wait. */
const replacing = ['TF_CLI_CONFIG_FILE', 'TERRAFORM_CONFIG'];
const lookMs = 1;
const lateMs = 2;

export class Gate {
  readonly #path: string;
  /** What is there once the gate is open: Terraform opens its settings, asks whether they exist, and reads them. */
  readonly #empty: string;

  /**
   * @param pipe named pipe that nobody has opened, where only the runner may write
   * @param home of the process alone, as long as it waits
   */
  constructor(pipe: string, home: string, owner: Owner | undefined) {
    this.#path = join(home, settingsFile);
    this.#empty = `${pipe}.empty`;
    writeFileSync(this.#empty, '', { mode: 0o644, flag: 'wx' });
    chmodSync(pipe, 0o400);
    give(pipe, owner);
    renameSync(pipe, this.#path);
  }

  /** Whether Terraform comes to a gate in this home. */
  static isIn(environment: Record<string, string>, home: string): boolean {
    return environment.HOME === home && replacing.every((name) => !environment[name]);
  }

  /** Lets the process pass once it has come here. @returns false when it has ended before */
  async open(hasEnded: () => boolean): Promise<boolean> {
    while (!hasEnded()) {
      try {
        // Fails while nobody waits to read.
        const file = openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
        renameSync(this.#empty, this.#path);
        // Who has found the pipe a second time meanwhile can still open it, and reads nothing from it.
        setTimeout(() => closeSync(file), lateMs);
        return true;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENXIO') return false;
      }
      await sleep(lookMs);
    }
    return false;
  }

  remove(): void {
    // The home's owner may have put anything there.
    for (const path of [this.#path, this.#empty]) rmSync(path, { recursive: true, force: true });
  }
}
