import { sendKeptStates } from '#runner/program/kept-states.ts';

/** The same interval as the sweep; shorter when a caller waits for the end of a run. */
const idleMs = 60_000;
const waitingMs = 5_000;

/**
 * Sends the platform the states that its runners stored in the data folder because they could not reach it: at its
 * start and while it runs.
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

  /** Resolves when no upload is in progress. */
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
