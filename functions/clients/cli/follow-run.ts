import { ApiError, type Client, isFinalRun } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { CommandError, type ExitCode, exit } from './exit.ts';
import { adviceOn, endOf, waitsForOthers, waitsForPerson } from './outcome.ts';
import { dim, plain } from './paint.ts';
import { program } from './program.ts';
import { type Progress, startProgress } from './progress.ts';
import { changesOf, type RunSnapshot, waitOf } from './run-snapshot.ts';
import { ask, columns, isAttended, print, say } from './terminal.ts';
import { type WatchEvent, watchRun } from './watch.ts';
import { WatchText } from './watch-text.ts';

export interface FollowOptions {
  json: boolean;
  /** Keeps watching while the run waits for a person. */
  wait: boolean;
  /** Leaves out Terraform's earlier output. */
  onlyNew?: boolean;
  /** Ends the watch. */
  timeoutMs?: number | undefined;
  /** This command started the run, so Ctrl-C offers to cancel it. */
  started: boolean;
}

/** The two questions take different answers, so that neither can be answered by mistake. */
const questionOn = ({ override, plan }: RunSnapshot): string => {
  if (override) {
    const hint = 'Type "override" to continue the run, "discard" to discard it, or press Enter to leave it waiting';
    return `\nPolicies failed. Override them? ${dim(hint)}\n> `;
  }
  const destroyed = changesOf(plan)?.destructions;
  const destroys = destroyed ? ` This destroys ${count(destroyed, 'resource')}.` : '';
  const hint = 'Type "yes" to apply, "discard" to discard the run, or press Enter to leave it waiting';
  return `\nApply these changes?${destroys} ${dim(hint)}\n> `;
};

/** Follows a run in this terminal until it ends or the user stops watching. */
class Attended {
  readonly #client: Client;
  readonly #id: string;
  readonly #options: FollowOptions;
  readonly #progress: Progress;
  readonly #left = new AbortController();
  readonly #emit: (event: WatchEvent) => void;
  #interrupts = 0;
  #isLate = false;
  /** Events that arrive while a question is open. */
  #held: WatchEvent[] | undefined;

  constructor(client: Client, id: string, options: FollowOptions) {
    this.#client = client;
    this.#id = id;
    this.#options = options;
    this.#progress = startProgress();
    const text = new WatchText(client.url, this.#progress.print);
    this.#emit = options.json
      ? (event) => print(JSON.stringify(event.event === 'log' ? { ...event, line: plain(event.line) } : event))
      : (event) => {
          if (event.event === 'status') this.#progress.set(event.name);
          text.emit(event);
        };
  }

  async watch(): Promise<ExitCode> {
    const interrupted = () => void this.#interrupted();
    process.on('SIGINT', interrupted);
    const { timeoutMs } = this.#options;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#late(), timeoutMs);
    try {
      const snapshot = await watchRun(this.#client, this.#id, {
        emit: (event) => this.#tell(event),
        decide: (snapshot) => this.#decide(snapshot),
        waitsFor: (run) => waitOf(this.#client, run),
        leaves: () => !this.#options.wait && !this.#asks,
        onlyNew: this.#options.onlyNew,
        signal: this.#left.signal,
      });
      return await this.#end(snapshot);
    } finally {
      clearTimeout(timer);
      this.#progress.end();
      process.off('SIGINT', interrupted);
    }
  }

  get #asks(): boolean {
    return !this.#options.json && isAttended();
  }

  #late(): void {
    this.#isLate = true;
    this.#left.abort();
  }

  #tell(event: WatchEvent): void {
    if (this.#held) this.#held.push(event);
    else this.#emit(event);
  }

  async #end(snapshot: RunSnapshot): Promise<ExitCode> {
    this.#progress.set('');
    if (this.#left.signal.aborted && !isFinalRun(snapshot.run)) {
      this.#goesOn(snapshot);
      return this.#isLate ? exit.timedOut : exit.interrupted;
    }
    const end = endOf(snapshot);
    this.#tell(end);
    if (this.#options.json) return end['exit-code'];
    for (const line of await adviceOn(this.#client, snapshot)) print(line);
    return end['exit-code'];
  }

  #goesOn(snapshot: RunSnapshot): void {
    const commands = [
      ['  Watch again', `${program} runs watch ${this.#id}`],
      ['  Cancel', `${program} runs cancel ${this.#id}`],
    ];
    const now = waitsForPerson(snapshot) ? 'The run is still waiting for a decision.' : 'The run continues.';
    say([`\nStopped watching. ${now}`, '', ...columns(commands)].join('\n'));
  }

  async #asked(question: string): Promise<string> {
    this.#progress.set('');
    this.#held = [];
    try {
      return await ask(question);
    } finally {
      const heldEvents = this.#held;
      this.#held = undefined;
      for (const event of heldEvents) this.#emit(event);
    }
  }

  async #decide(snapshot: RunSnapshot): Promise<'stay' | 'leave'> {
    if (this.#options.wait) return 'stay';
    if (!this.#asks) return 'leave';
    if (waitsForOthers(snapshot)) return 'leave';
    const words = snapshot.override ? ['override', 'discard'] : ['yes', 'discard'];
    const answer = await this.#choice(questionOn(snapshot), words);
    const override = snapshot.override && answer === 'override' ? snapshot.override : undefined;
    const reason = override && (await this.#answer(`Reason: ${dim('Recorded in the run’s timeline')}\n> `));
    if (!answer || reason === '' || (override && reason === undefined)) return 'leave';
    try {
      if (override) await this.#client.call('POST', override, { comment: reason });
      else if (answer === 'discard') await this.#client.act(this.#id, 'discard');
      else if (answer === 'yes') await this.#client.act(this.#id, 'apply');
    } catch (error) {
      // Another user decided at the same time; the watch shows the result.
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      say('The run has changed in the meantime.');
    }
    return 'stay';
  }

  /** One of the words, or empty for Enter; asks again after any other. Undefined for Ctrl-C. */
  async #choice(question: string, words: string[]): Promise<string | undefined> {
    for (let text = question; ; text = `Type ${words.map((word) => `"${word}"`).join(' or ')}, or press Enter\n> `) {
      const answer = await this.#answer(text);
      if (!answer || words.includes(answer)) return answer;
    }
  }

  /** Undefined for Ctrl-C. */
  async #answer(question: string): Promise<string | undefined> {
    try {
      return await this.#asked(question);
    } catch (error) {
      if (error instanceof CommandError) this.#left.abort();
      else throw error;
      return undefined;
    }
  }

  async #interrupted(): Promise<void> {
    this.#interrupts++;
    if (this.#interrupts > 1 || !this.#options.started || !this.#asks) {
      this.#left.abort();
      return;
    }
    const answer = await this.#answer(
      `\nCancel the run? ${dim('Type "yes" to cancel; anything else leaves it running')}\n> `,
    );
    if (answer !== 'yes') {
      this.#left.abort();
      return;
    }
    try {
      const said = await this.#client.act(this.#id, 'cancel');
      say(said ?? 'Cancel requested. Terraform is stopping and will save its state.');
    } catch (error) {
      say((error as Error).message);
    }
  }
}

export const followRun = (client: Client, id: string, options: FollowOptions): Promise<ExitCode> =>
  new Attended(client, id, options).watch();
