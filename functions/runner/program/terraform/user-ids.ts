import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { coversIds, machineFolder, rootFolder } from './machine.ts';

/**
 * User ids for runs, allocated by files in a folder of root: `<number>` contains the path of the run's folder.
 * Numbers only rise, because the file with the highest one is never removed. A run's ids are computed from its
 * number. Ids are reused only after the whole range, and only if the folder of the run that had them was removed:
 * files of these users exist nowhere else (room.ts). No process has to stay alive for that, so a runner that was
 * killed keeps its ids until its folder is removed.
 */

/** First user id, and the maximum of runs in the range. */
export interface Range {
  first: number;
  runs: number;
}

/** One id for each of a run's users: plan, apply, reader. */
export const idsPerRun = 3;

/** Unused by systemd, containers and people (https://systemd.io/UIDS-GIDS/): 80 million runs. */
const wide: Range = { first: 1_900_000_000, runs: 80_000_000 };
/** For containers with only 65,536 ids. */
const narrow: Range = { first: 60_000, runs: 1_600 };

const isCovered = ({ first, runs }: Range): boolean => coversIds(first, first + runs * idsPerRun - 1);

const usableRange = (): Range => {
  const range = [wide, narrow].find(isCovered);
  if (range) return range;
  const { first, runs } = narrow;
  throw new Error(`user ids ${first} to ${first + runs * idsPerRun - 1} do not exist here (/proc/self/uid_map)`);
};

const maxTries = 1000;
/** Files of other runs that each run checks, in turn: killed runners may leave hundreds of folders. */
const checked = 16;

interface Options {
  folder?: string;
  range?: Range;
  /** Called with the folder of a run that was removed. */
  onForgotten?: (runFolder: string) => void;
}

export class UserIds {
  readonly #folder: string;
  readonly #range: Range;
  readonly #onForgotten: (runFolder: string) => void;

  constructor({ folder = machineFolder('users', 0o700), range = usableRange(), onForgotten = () => {} }: Options = {}) {
    this.#folder = rootFolder(folder, 0o700);
    this.#range = range;
    this.#onForgotten = onForgotten;
  }

  /**
   * @param runFolder exists, and is removed with the last file of these users
   * @returns the first of {@link idsPerRun} ids
   */
  take(runFolder: string): number {
    for (let tries = 0; tries < maxTries; tries++) {
      const number = this.#next();
      try {
        writeFileSync(this.#fileOf(number), runFolder, { flag: 'wx', mode: 0o600 });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
        throw error;
      }
      // If another run took a higher number after the folder was listed, and has ended, this number is not new.
      if (Math.max(...this.#numbers()) === number) return this.#range.first + this.#slotOf(number) * idsPerRun;
      rmSync(this.#fileOf(number), { force: true });
    }
    throw new Error(`no user ids for this run: other runs claimed every free range first (${this.#folder})`);
  }

  /** The lowest number that is above all others and whose ids no other run has. */
  #next(): number {
    const numbers = this.#numbers().sort((a, b) => a - b);
    const highest = numbers.at(-1) ?? -1;
    const first = (Math.max(highest, 0) * checked) % Math.max(numbers.length, 1);
    const some = numbers.length > checked ? [...numbers, ...numbers].slice(first, first + checked) : numbers;
    for (const number of some) this.#isBusy(number, highest);
    const isFree = (next: number): boolean =>
      numbers.every((number) => this.#slotOf(number) !== this.#slotOf(next) || !this.#isBusy(number, highest));
    for (let n = 1; n <= this.#range.runs; n++) if (isFree(highest + n)) return highest + n;
    throw new Error(
      `all user ids for ${this.#range.runs} runs are in use: remove the folders of runs that have ended, which the files in ${this.#folder} name`,
    );
  }

  /** Whether files of this number's users may exist. If its run's folder was removed, removes the number's file too. */
  #isBusy(number: number, highest: number): boolean {
    const runFolder = this.#runFolderOf(number);
    // An empty file is being written.
    if (runFolder === '' || (runFolder && existsSync(runFolder))) return true;
    if (number !== highest) this.#forget(number, runFolder);
    return false;
  }

  #numbers(): number[] {
    return readdirSync(this.#folder)
      .filter((name) => /^\d{1,15}$/.test(name))
      .map(Number);
  }

  #fileOf(number: number): string {
    return join(this.#folder, String(number));
  }

  #slotOf(number: number): number {
    return number % this.#range.runs;
  }

  #runFolderOf(number: number): string | undefined {
    try {
      return readFileSync(this.#fileOf(number), 'utf8');
    } catch {
      return undefined;
    }
  }

  #forget(number: number, runFolder: string | undefined): void {
    rmSync(this.#fileOf(number), { force: true });
    if (runFolder) this.#onForgotten(runFolder);
  }
}
