import { sendKeptStates } from '#runner/program/kept-states.ts';

/** As often as the platform sweeps; more often while one waits for the end of its run. */
const idleMs = 60_000;
const waitingMs = 5_000;

/**
 * Gives the platform the states that its runners had to keep in the data folder, at its start and while it runs: a run whose
 * runner could not reach the platform has its state there.
 */
export class KeptStates {
  readonly #url: string;
  readonly #folder: string;
  readonly #say: (text: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isClosed = false;
  #said = '';

  constructor(url: string, folder: string, say: (text: string) => void) {
    this.#url = url;
    this.#folder = folder;
    this.#say = say;
  }

  start(): void {
    this.#sending = this.#send();
  }

  /** Resolves when nothing is being sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sending;
  }

  async #send(): Promise<void> {
    const say = (text: string) => {
      if (text !== this.#said) this.#say(text);
      this.#said = text;
    };
    const left = await sendKeptStates(this.#url, this.#folder, say);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), left ? waitingMs : idleMs).unref();
  }
}
