import { stat } from 'node:fs/promises';
import { messageOf } from './errors.ts';
import { within } from './retry.ts';
import { upload } from './transfer.ts';

/** How long one upload is tried. */
const uploadMs = 60_000;

/**
 * What nobody waits for: made when the phase is reported and its token dead, and put where the control plane said before.
 * A failure is for the operator to know of, and nobody else's business.
 */
export class Afterwards {
  readonly #work: { what: string; do: () => Promise<void> }[] = [];
  #done: Promise<void> | undefined;

  /** `make` returns the file to be put at `url`. */
  add(what: string, url: () => string | Promise<string>, make: () => Promise<string>): void {
    const put = async () => {
      const file = await make();
      await upload(await url(), { file, size: (await stat(file)).size }, within(uploadMs));
    };
    this.#work.push({ what, do: put });
  }

  /** Does it once, however often it is called. Never throws. */
  run(): Promise<void> {
    this.#done ??= this.#run();
    return this.#done;
  }

  async #run(): Promise<void> {
    for (const { what, do: work } of this.#work) {
      await work().catch((error: unknown) => console.error(`${what} could not be stored: ${messageOf(error)}`));
    }
  }
}
