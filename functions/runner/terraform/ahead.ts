import { isDeepStrictEqual } from 'node:util';
import type { Binary } from '../binary/find.ts';
import type { Control } from '../control.ts';
import { Gate } from './gate.ts';
import type { Owner } from './owner.ts';
import { type Command, heeding, type ProcessResult, Running } from './process.ts';

/**
 * Terraforms that are started before their turn and wait at a gate: loading itself takes one longer than most of what it
 * does for a small configuration. One is used only by the very command that it was started with; where anything has turned
 * out differently, that starts its own.
 */
export class StartedAhead {
  readonly #gates: Gates;
  /** By the first word of the command. */
  readonly #waiting = new Map<string, Promise<Waiting | undefined>>();

  constructor(gates: Gates) {
    this.#gates = gates;
  }

  /**
   * Starts one if it can be held back. Never throws: what is wrong with the command is said when it is its turn.
   * @param home of this process alone, as long as it waits
   * @param make the command; output that goes to no file is left out, and goes where the later command says
   */
  start({ engine, version }: Binary, home: string, make: () => Early): void {
    // Terraform 0.x and OpenTofu were not looked at.
    if (engine !== 'terraform' || version.startsWith('0.')) return;
    try {
      const command = make();
      if (Gate.isIn(command.environment, home)) this.#waiting.set(wordOf(command), this.#begin(command, home));
    } catch {
      // Said later.
    }
  }

  /** Lets the one go on that was started as this command. @returns undefined where there is none */
  async proceed(command: Command, control: Control): Promise<ProcessResult | undefined> {
    const waiting = await this.#waiting.get(wordOf(command));
    this.#waiting.delete(wordOf(command));
    return waiting?.proceed(command, control);
  }

  /** Ends those that were not used. */
  async drop(): Promise<void> {
    await Promise.all([...this.#waiting.values()].map(async (one) => (await one)?.drop()));
    this.#waiting.clear();
  }

  async #begin(command: Early, home: string): Promise<Waiting | undefined> {
    const gate = await this.#gates.gate(home, command.user.owner).catch(() => undefined);
    try {
      return gate && new Waiting(command, gate);
    } catch {
      // Others would wait there.
      gate?.remove();
      return undefined;
    }
  }
}

interface Gates {
  /** Undefined where there are none. */
  gate(home: string, owner: Owner | undefined): Promise<Gate | undefined>;
}

type Early = Omit<Command, 'output'> & { output?: { file: string } };

const wordOf = ({ args: [word = ''] }: Pick<Command, 'args'>): string => word;

class Waiting {
  readonly #command: Command;
  readonly #gate: Gate;
  readonly #running: Running;
  /** What it says while it waits: the first lines of Terraform's own log, where that is turned on. */
  readonly #said: Buffer[] = [];
  #output = (bytes: Buffer): void => {
    this.#said.push(bytes);
  };

  /** @throws {PhaseError} when it cannot be started */
  constructor(command: Early, gate: Gate) {
    this.#gate = gate;
    this.#command = { ...command, output: command.output ?? ((bytes) => this.#output(bytes)) };
    this.#running = new Running(this.#command, { waits: true });
  }

  async proceed(command: Command, control: Control): Promise<ProcessResult | undefined> {
    if (!isSame(this.#command, command) || control.cause) return this.drop();
    if (typeof command.output === 'function') {
      this.#output = command.output;
      for (const bytes of this.#said) command.output(bytes);
    }
    this.#running.begins();
    const end = heeding(control, this.#running);
    end.catch(() => {});
    return (await this.#gate.open(() => this.#running.hasEnded)) || control.cause ? end : this.drop();
  }

  async drop(): Promise<undefined> {
    this.#running.kill();
    this.#gate.remove();
    await this.#running.ended.catch(() => {});
  }
}

const isSame = (one: Command, other: Command): boolean =>
  one.user === other.user && isDeepStrictEqual(chosen(one), chosen(other));

const chosen = ({ path, args, directory, environment, output }: Command) => {
  const file = typeof output === 'function' ? undefined : output.file;
  return { path, args, directory, environment, file };
};
