import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type ProcessLimits, type ProcessResult, runBounded } from './child.ts';
import type { Engine, EvaluationRequest, EvaluationResult, Limits, PolicyAnswer } from './engine.ts';

/**
 * Open Policy Agent, as the `opa` binary. Rego can neither reach the network nor read the environment: those functions are
 * disabled (OPA docs: capabilities). Policies are loaded with their set's files and `data.params`.
 */

interface Capabilities {
  builtins: { name: string; nondeterministic?: boolean }[];
  allow_net?: string[];
}

/** Harmless functions among those whose results come from outside the policy. */
const harmless = /^(time\.now_ns|rand\.intn|uuid\.rfc4122|io\.jwt\..*)$/;
/** Disabled by name too: older versions do not mark them as nondeterministic. */
const harmful = /^(http\.send|net\.lookup_ip_addr|opa\.runtime)$/;

/** Capabilities of policies: everything but functions that reach outside. @throws {Error} when OPA does not list them */
const restricted = (current: string): string => {
  const all = JSON.parse(current) as Capabilities;
  const builtins = all.builtins.filter(
    ({ name, nondeterministic }) => !harmful.test(name) && (!nondeterministic || harmless.test(name)),
  );
  return JSON.stringify({ ...all, builtins, allow_net: [] });
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

/** `network/deny.rego line 7: …`; `root` is the folder of the files. */
const describeError = ({ message, location }: OpaError, root: string): string => {
  const file = location?.file?.replace(`${root}/`, '');
  return file ? `${file} line ${location?.row ?? 1}: ${message}` : message;
};

const maxErrors = 5;
const toldAll = (errors: OpaError[], root: string): string => {
  const messages = [...new Set(errors.map((error) => describeError(error, root)))];
  // OPA reports some mistakes twice, in a shorter and a longer form.
  const all = messages.filter((message) => !messages.some((other) => other !== message && other.startsWith(message)));
  const rest = all.length - maxErrors;
  return all.slice(0, maxErrors).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
};

const oldSyntax = /`(if|contains)` keyword is required|var cannot be used for rule name/;

/** OPA's error, with a remedy for common ones. */
const advised = (message: string): string => {
  if (message.includes('undefined function')) {
    return `${message}. Functions that access the network or the environment are disabled for policies. Use input instead.`;
  }
  if (oldSyntax.test(message)) {
    return `${message}. This is Rego from before OPA 1.0. Rewrite it (opa fmt --write --v0-v1), or set the policy set's policy-tool-version to a version below 1.0.`;
  }
  return message;
};

const exceeding = (limits: Limits, seconds: number): Record<NonNullable<ProcessResult['exceeded']>, string> => ({
  time: `it did not finish within ${seconds} s; look for rules that combine everything with everything`,
  memory: `it needed more than ${limits.memoryMiB} MiB of memory; look for rules that collect large values`,
  output: `it returned more than ${limits.outputBytes} bytes; return messages instead of whole resources`,
});

/** Rego before 1.0 needs no `if` and `contains`. */
const isOld = (toolVersion: string): boolean => /^v?0\./.test(toolVersion);

class Session {
  readonly #binary: string;
  readonly #directory: string;
  readonly #question: EvaluationRequest;
  readonly warnings = new Set<string>();

  constructor(binary: string, directory: string, question: EvaluationRequest) {
    this.#binary = binary;
    this.#directory = directory;
    this.#question = question;
  }

  /** All policies in one process, since loading a large plan takes longer than evaluating it; if that fails, each in its own. */
  async ask(): Promise<PolicyAnswer[]> {
    const queries = this.#question.policies.map(({ query }) => query);
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

  async #evaluate(query: string): Promise<PolicyAnswer> {
    const { input, limits, toolVersion } = this.#question;
    const seconds = Math.min(limits.seconds, (limits.deadline - Date.now()) / 1000);
    if (seconds <= 0)
      return { error: 'the time limit for all policies of the run was reached before it was evaluated' };
    const parameters = [
      ['eval', '--format', 'json', '--show-builtin-errors'],
      ['--capabilities', join(this.#directory, 'capabilities.json')],
      ['--data', join(this.#directory, 'files'), '--data', join(this.#directory, 'params.json')],
      ['--input', input.path],
      isOld(toolVersion) ? ['--v0-compatible'] : [],
      ['--', query],
    ].flat();
    const bounds: ProcessLimits = { seconds, memoryMiB: limits.memoryMiB, outputBytes: limits.outputBytes };
    const ended = await runBounded(this.#binary, parameters, this.#directory, bounds);
    if (ended.exceeded) return { error: exceeding(limits, Math.ceil(seconds))[ended.exceeded] };
    return this.#read(ended, query);
  }

  #read({ exitCode, stdout, stderr }: ProcessResult, query: string): PolicyAnswer {
    let output: OpaOutput;
    try {
      output = JSON.parse(stdout) as OpaOutput;
    } catch {
      return { error: `OPA ended with ${exitCode ?? 'a signal'}: ${stderr.trim().slice(0, 500)}` };
    }
    const errors = output.errors ?? [];
    const root = join(this.#directory, 'files');
    // In OPA, errors of functions leave their expression undefined; all other errors are fatal.
    const fatal = errors.filter(({ code }) => code !== 'eval_builtin_error');
    if (fatal.length || exitCode !== 0) return { error: advised(toldAll(fatal.length ? fatal : errors, root)) };
    for (const error of errors) this.warnings.add(describeError(error, root));
    const value = output.result?.[0]?.expressions?.at(-1)?.value;
    return output.result === undefined ? undefinedRule(query) : { value };
  }
}

const undefinedRule = (query: string | undefined): PolicyAnswer => ({
  error: `${query} is undefined: no rule of that name has a value. Check the query against the package and rule names, and give rules that can be undefined a default`,
});

const bounded = { seconds: 20, memoryMiB: 512, outputBytes: 4 * 1024 * 1024 };

/** @throws {Error} when the binary cannot be started or is not OPA */
export const openOpa = async (binary: string): Promise<Engine> => {
  const ask = (...parameters: string[]) => runBounded(binary, parameters, tmpdir(), bounded);
  const [versionOutput, current] = await Promise.all([ask('version'), ask('capabilities', '--current')]);
  const version = /^Version: (\S+)/.exec(versionOutput.stdout)?.[1];
  if (!version) throw new Error(`${binary} is not a working OPA: ${versionOutput.stderr.slice(0, 200)}`);
  const capabilities = restricted(current.stdout);
  return { version, evaluate: (question) => inOwnDirectory(binary, capabilities, question) };
};

const inOwnDirectory = async (
  binary: string,
  capabilities: string,
  question: EvaluationRequest,
): Promise<EvaluationResult> => {
  const directory = await mkdtemp(join(tmpdir(), 'policies-'));
  try {
    await mkdir(join(directory, 'files'));
    await writeFile(join(directory, 'capabilities.json'), capabilities);
    await writeFile(join(directory, 'params.json'), JSON.stringify({ params: question.parameters }));
    for (const { path, content } of question.files) {
      const file = join(directory, 'files', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content, { flag: 'wx' });
    }
    const session = new Session(binary, directory, question);
    return { answers: await session.ask(), warnings: [...session.warnings] };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
