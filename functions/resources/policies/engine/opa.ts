import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProcessLimits, type ProcessResult, runBounded } from './child.ts';
import type { Engine, EvaluationResult, Limits, PolicyAnswer } from './engine.ts';
import { isPure } from './pure-builtins.ts';
import { findRoom, mountPoint, type Room } from './room.ts';
import { isOld, layOut, type Question } from './set-files.ts';

/**
 * Open Policy Agent, as the `opa` binary. Rego cannot access network, files or environment: policies have only pure
 * functions (OPA docs: capabilities), and OPA runs in its own namespaces where the system allows them
 * (decisions/0147). Policies are loaded with their set's files and `data.params`.
 */

interface Capabilities {
  builtins: { name: string }[];
  allow_net?: string[];
}

/** @throws {Error} when OPA does not list its functions */
const restricted = (current: string): string => {
  const all = JSON.parse(current) as Capabilities;
  return JSON.stringify({ ...all, builtins: all.builtins.filter(({ name }) => isPure(name)), allow_net: [] });
};

interface OpaError {
  message: string;
  code?: string;
  location?: { file?: string; row?: number };
}

interface OpaOutput {
  errors?: OpaError[];
  result?: { expressions?: { value?: unknown }[] }[];
}

/** `network/deny.rego line 7: …` */
const describeError = ({ message, location }: OpaError): string => {
  const file = location?.file?.replace(/^files\//, '');
  return file ? `${file} line ${location?.row ?? 1}: ${message}` : message;
};

const maxErrors = 5;
const toldAll = (errors: OpaError[]): string => {
  const messages = [...new Set(errors.map(describeError))];
  // OPA reports some mistakes twice, in a shorter and a longer form.
  const all = messages.filter((message) => !messages.some((other) => other !== message && other.startsWith(message)));
  const rest = all.length - maxErrors;
  return all.slice(0, maxErrors).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
};

const oldSyntax = /`(if|contains)` keyword is required|var cannot be used for rule name/;

/** OPA's error, with a remedy for common ones. */
const advised = (message: string): string => {
  if (message.includes('undefined function')) {
    return `${message}. Policies may call only functions that compute from their parameters: none that access the network, files or the environment. Use input instead.`;
  }
  if (oldSyntax.test(message)) {
    return `${message}. This is Rego from before OPA 1.0. Rewrite it (opa fmt --write --v0-v1), or set the policy set's policy-tool-version to a version below 1.0.`;
  }
  return message;
};

const exceeding = (
  limits: Pick<Limits, 'memoryMiB' | 'outputBytes'>,
  seconds: number,
): Record<NonNullable<ProcessResult['exceeded']>, string> => ({
  time: `it did not finish within ${seconds} s; look for rules that iterate over every pair of a large collection`,
  memory: `it needed more than ${limits.memoryMiB} MiB of memory; look for rules that collect large values`,
  output: `it returned more than ${limits.outputBytes} bytes; return messages instead of whole resources`,
});

/** Starts the binary in a directory of its own. */
type Start = (parameters: string[], directory: string, limits: ProcessLimits) => Promise<ProcessResult>;

class Session {
  readonly #start: Start;
  readonly #directory: string;
  readonly #question: Question;
  readonly warnings = new Set<string>();

  constructor(start: Start, directory: string, question: Question) {
    this.#start = start;
    this.#directory = directory;
    this.#question = question;
  }

  /**
   * Evaluates all policies in one process, since loading a large plan takes longer than evaluating it; if that fails,
   * each policy in its own process.
   */
  async ask(): Promise<PolicyAnswer[]> {
    const { policies } = this.#question;
    const queries = policies.map(({ query }) => query);
    const error = await this.#layOut();
    if (error !== undefined) return policies.map(() => ({ error }));
    if (queries.length > 1) {
      const all = await this.#evaluate(`[${queries.map((query) => `[x | x := ${query}]`).join(', ')}]`);
      if ('value' in all && Array.isArray(all.value) && all.value.length === queries.length) {
        return all.value.map((values: unknown[], i) =>
          values.length ? { value: values[0] } : undefinedRule(queries[i]),
        );
      }
      this.warnings.clear();
    }
    const answers: PolicyAnswer[] = [];
    for (const query of queries) answers.push(await this.#evaluate(query));
    return answers;
  }

  /** Loads everything as an evaluation does, but evaluates no rule: OPA leaves a body at its first false expression. */
  async compile(): Promise<string | undefined> {
    const error = await this.#layOut();
    if (error !== undefined) return error;
    const queries = this.#question.policies.map(({ query }) => query);
    const errorOf = async (...compiled: string[]): Promise<string | undefined> => {
      const answer = await this.#evaluate(`[${compiled.map((query) => `[x | false; x := ${query}]`).join(', ')}]`);
      return 'error' in answer ? answer.error : undefined;
    };
    if ((await errorOf(...queries)) === undefined) return undefined;
    const ofModules = await errorOf();
    if (ofModules !== undefined) return ofModules;
    for (const query of queries) {
      const ofQuery = await errorOf(query);
      if (ofQuery !== undefined) return `query ${query}: ${ofQuery}`;
    }
    return undefined;
  }

  /** @returns the error of a set that cannot be loaded */
  async #layOut(): Promise<string | undefined> {
    try {
      await layOut(this.#directory, this.#question, (...parameters) => this.#prepare(parameters));
      return undefined;
    } catch (error) {
      return (error as Error).message.replaceAll(`${this.#directory}/`, '');
    }
  }

  async #prepare(parameters: string[]): Promise<string> {
    const limits = { ...bounded, seconds: Math.min(bounded.seconds, this.#secondsLeft) };
    const { exitCode, stdout, stderr, exceeded } = await this.#start(parameters, this.#directory, limits);
    if (exitCode === 0 && !exceeded) return stdout;
    const reason = exceeded ? exceeding(limits, Math.ceil(limits.seconds))[exceeded] : tidy(stderr || stdout);
    throw new Error(`the policy set cannot be loaded: ${reason}`);
  }

  get #secondsLeft(): number {
    return Math.max(0, this.#question.limits.deadline - Date.now()) / 1000;
  }

  async #evaluate(query: string): Promise<PolicyAnswer> {
    const { limits, toolVersion } = this.#question;
    const seconds = Math.min(limits.seconds, this.#secondsLeft);
    if (seconds <= 0)
      return { error: 'the time limit for all policies of the run was reached before it was evaluated' };
    const parameters = [
      ['eval', '--format', 'json', '--show-builtin-errors'],
      ['--capabilities', 'capabilities.json', '--data', 'files', '--data', 'params.json', '--input', 'input.json'],
      isOld(toolVersion) ? ['--v0-compatible'] : [],
      ['--', query],
    ].flat();
    const bounds: ProcessLimits = { seconds, memoryMiB: limits.memoryMiB, outputBytes: limits.outputBytes };
    const ended = await this.#start(parameters, this.#directory, bounds);
    if (ended.exceeded) return { error: exceeding(limits, Math.ceil(seconds))[ended.exceeded] };
    return this.#read(ended, query);
  }

  #read({ exitCode, stdout, stderr }: ProcessResult, query: string): PolicyAnswer {
    let output: OpaOutput;
    try {
      output = JSON.parse(stdout) as OpaOutput;
    } catch {
      return { error: `OPA ended with ${exitCode ?? 'a signal'}: ${tidy(stderr)}` };
    }
    const errors = output.errors ?? [];
    // In OPA, errors of built-in functions leave their expression undefined; all other errors are fatal.
    const fatal = errors.filter(({ code }) => code !== 'eval_builtin_error');
    if (fatal.length || exitCode !== 0) return { error: advised(toldAll(fatal.length ? fatal : errors)) };
    for (const error of errors) this.warnings.add(describeError(error));
    const value = output.result?.[0]?.expressions?.at(-1)?.value;
    return output.result === undefined ? undefinedRule(query) : { value };
  }
}

const undefinedRule = (query: string | undefined): PolicyAnswer => ({
  error: `${query} is undefined: no rule of that name has a value. Check the query against the package and rule names, and give rules that can be undefined a default`,
});

const tidy = (text: string): string =>
  text
    .trim()
    .replaceAll(/\b(files|annotated|data)\//g, '')
    .slice(0, 500);

const bounded = { seconds: 20, memoryMiB: 512, outputBytes: 64 * 1024 * 1024 };

/** @throws {Error} when the binary cannot be started or is not OPA */
export const openOpa = async (binary: string): Promise<Engine> => {
  const inRoom =
    (room: Room): Start =>
    (parameters, directory, limits) =>
      runBounded(...room(binary, parameters), directory, limits);
  const ask = (room: Room, ...parameters: string[]) =>
    inOwnDirectory(async (directory) => {
      await writeFile(join(directory, mountPoint), '');
      return inRoom(room)(parameters, directory, bounded);
    });
  const room = await findRoom(async (one) => (await ask(one, 'version')).exitCode === 0);
  const [versionOutput, current] = await Promise.all([ask(room, 'version'), ask(room, 'capabilities', '--current')]);
  const version = /^Version: (\S+)/.exec(versionOutput.stdout)?.[1];
  if (!version) throw new Error(`${binary} is not a working OPA: ${versionOutput.stderr.slice(0, 200)}`);
  const capabilities = restricted(current.stdout);
  const inSession = <T>(question: Question, work: (session: Session) => Promise<T>): Promise<T> =>
    inOwnDirectory(async (directory) => {
      await writeFile(join(directory, 'capabilities.json'), capabilities);
      return work(new Session(inRoom(room), directory, question));
    });
  return {
    version,
    evaluate: (question) =>
      inSession<EvaluationResult>(question, async (session) => ({
        answers: await session.ask(),
        warnings: [...session.warnings],
      })),
    compile: (question) => inSession(question, (session) => session.compile()),
  };
};

const inOwnDirectory = async <T>(work: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), 'policies-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
