import { parseArgs } from 'node:util';
import { type ExitCode, wrongUsage } from './exit.ts';
import { nearest } from './nearest-word.ts';
import { program } from './program.ts';
import type { Session } from './session.ts';

export interface Option {
  about: string;
  /** Placeholder for its value in the help; absent for a flag. */
  value?: string;
  short?: string;
  multiple?: true;
  /** All possible values, for tab completion. */
  choices?: readonly string[];
}

export interface Command {
  /** As typed: `runs start`. */
  name: string;
  about: string;
  /** `<required> [optional]`, in order; a final `…` allows any number of the last one. */
  takes?: string;
  options?: Record<string, Option>;
  /** More text for the help. */
  more?: string;
  /** It sends no requests and prints no document: `--host` and `--json` are refused instead of ignored. */
  isProgram?: true;
  /** @returns the exit code, by default 0 */
  run(call: Call, session: Session): Promise<ExitCode | undefined>;
}

const help: Option = { about: 'show this help', short: 'h' };
const general: Record<string, Option> = {
  json: { about: `print JSON (see ${program} help json)` },
  host: { about: 'server to use, e.g. stepform.example.com', value: 'host' },
  help,
};

/** All options of the command. */
export const optionsOf = ({ options, isProgram }: Command): Record<string, Option> => ({
  ...options,
  ...(isProgram ? { help } : general),
});

export const ofOrganization: Record<string, Option> = {
  organization: {
    about: 'organization (default: the cloud block or TF_CLOUD_ORGANIZATION)',
    value: 'name',
    short: 'o',
  },
};
export const ofWorkspace: Record<string, Option> = {
  workspace: { about: 'workspace (default: the cloud block or TF_WORKSPACE)', value: 'name', short: 'w' },
  ...ofOrganization,
};

/** Of commands that watch a run. */
export const ofWatch = {
  timeout: { about: 'stop watching after this time, e.g. 30m; the run continues', value: 'duration' },
} satisfies Record<string, Option>;

const unitMs: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** Longer timers of Node fire at once. */
const maxHours = 24 * 24;

/** Milliseconds of --timeout; undefined without it. @throws {CommandError} */
export const timeoutOf = (call: Call): number | undefined => {
  const text = call.text('timeout');
  if (text === undefined) return undefined;
  const [, number = '', unit = ''] = /^(\d+)([smh])$/.exec(text) ?? [];
  const ms = Number(number) * (unitMs[unit] ?? 0);
  if (ms > 0 && ms <= maxHours * 3_600_000) return ms;
  throw wrongUsage(`--timeout ${text}: give a number with s, m or h, up to ${maxHours}h, e.g. --timeout 30m`);
};

/** A command with its arguments and options, parsed. */
export class Call {
  readonly command: Command;
  readonly #values: Record<string, unknown>;
  readonly #words: string[];

  constructor(command: Command, values: Record<string, unknown>, words: string[]) {
    this.command = command;
    this.#values = values;
    this.#words = words;
  }

  /** @param at index among the arguments that are not options, from 0 */
  word(at: number): string | undefined {
    return this.#words[at];
  }

  get words(): readonly string[] {
    return this.#words;
  }

  /** An argument that {@link Command.takes} requires. */
  required(at: number): string {
    return this.#words[at] as string;
  }

  text(option: string): string | undefined {
    return this.#values[option] as string | undefined;
  }

  texts(option: string): string[] {
    return (this.#values[option] as string[] | undefined) ?? [];
  }

  flag(option: string): boolean {
    return this.#values[option] === true;
  }

  /** All of it, for a program with the same arguments and options. */
  get args(): string[] {
    const options = Object.entries(this.#values).flatMap(([name, value]) =>
      value === true ? [`--${name}`] : [value].flat().flatMap((text) => [`--${name}`, String(text)]),
    );
    return [...this.#words, ...options];
  }
}

/** Terraform's spelling with one dash works too. */
const twoDashes = (word: string): string => (/^-[a-z][a-z-]+(=|$)/.test(word) ? `-${word}` : word);

const dashed = (args: string[]): string[] => {
  const end = args.indexOf('--');
  return end < 0 ? args.map(twoDashes) : [...args.slice(0, end).map(twoDashes), ...args.slice(end)];
};

const seeHelp = ({ name }: Command): string => `See: ${program} ${name} --help`;

const checkOptions = (command: Command, args: string[]): void => {
  const options = optionsOf(command);
  const { tokens } = parseArgs({
    args,
    options: configOf(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const option = options[token.name];
    if (!option) {
      const similar = nearest(token.name, Object.keys(options));
      const advice = similar ? `Did you mean --${similar}?` : seeHelp(command);
      throw wrongUsage(`${program} ${command.name} has no option ${token.rawName}. ${advice}`);
    }
    if (option.value && token.value === undefined) {
      throw wrongUsage(`--${token.name} needs a value: --${token.name} <${option.value}>`);
    }
    if (!option.value && token.value !== undefined) {
      throw wrongUsage(`--${token.name} takes no value: remove "=${token.value}"`);
    }
  }
};

const configOf = (options: Record<string, Option>) =>
  Object.fromEntries(
    Object.entries(options).map(([name, { value, short, multiple = false }]) => [
      name,
      { type: value ? ('string' as const) : ('boolean' as const), multiple, ...(short ? { short } : {}) },
    ]),
  );

/** @throws {CommandError} with the error and its correction */
export const parse = (command: Command, words: string[]): Call => {
  const args = dashed(words);
  checkOptions(command, args);
  const options = configOf(optionsOf(command));
  // The only error left is a value that looks like an option: `--message --json`.
  const parsed = (() => {
    try {
      return parseArgs({ args, options, allowPositionals: true });
    } catch (error) {
      throw wrongUsage(`${(error as Error).message.split('\n')[0]} ${seeHelp(command)}`);
    }
  })();
  const call = new Call(command, parsed.values, parsed.positionals);
  if (!call.flag('help')) checkWords(command, parsed.positionals);
  return call;
};

const checkWords = (command: Command, words: string[]): void => {
  const takes = command.takes?.match(/<[^>]+>|\[[^\]]+\]/g) ?? [];
  const missing = takes[words.length];
  if (missing?.startsWith('<')) {
    throw wrongUsage(
      `Missing argument ${missing}: ${program} ${command.name} ${command.takes}\n${command.about}. ${seeHelp(command)}`,
    );
  }
  const surplus = words[takes.length];
  if (surplus !== undefined && !command.takes?.endsWith('…')) {
    const takesWhat = takes.length ? `takes ${command.takes}` : 'takes no arguments';
    throw wrongUsage(`Unexpected argument "${surplus}": ${program} ${command.name} ${takesWhat}. ${seeHelp(command)}`);
  }
};
