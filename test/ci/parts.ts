import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** A part of CI: a command and its result. */
export interface Part {
  name: string;
  command: [string, ...string[]];
  env?: Record<string, string>;
  /** Prints its output continuously, instead of at its end. */
  live?: boolean;
}

export interface Result {
  name: string;
  outcome: 'passed' | 'failed' | 'skipped';
  seconds: number;
  /** Why it failed, or what it skipped: one entry for each line `SKIPPED: …` that it printed. */
  reasons: string[];
  /** Its complete output. */
  output: string;
  /** Failures of a first try, of a part that passed at its second one (second-tries.ts). */
  firstFailures?: string[];
}

const skippedLine = /^SKIPPED: (.+)$/gm;

const outcomeOf = (code: number | null, skips: string[], allSkipped: boolean): Result['outcome'] => {
  if (code !== 0) return 'failed';
  return skips.length > 0 && allSkipped ? 'skipped' : 'passed';
};

/** Runs parts in separate processes. A failure of one part does not end another. */
export class Parts {
  readonly results: Result[] = [];
  readonly #folder: string;
  readonly #cwd: string;
  readonly #print: (output: string | Buffer) => unknown;
  readonly #running = new Set<ChildProcess>();

  /** @param folder for the output of each part @param print for the output of all parts */
  constructor(
    folder: string,
    cwd: string,
    print: (output: string | Buffer) => unknown = (output) => process.stdout.write(output),
  ) {
    this.#folder = folder;
    this.#cwd = cwd;
    this.#print = print;
    mkdirSync(folder, { recursive: true });
  }

  async run({ name, command: [program, ...args], env = {}, live = false }: Part): Promise<Result> {
    const began = performance.now();
    // A process group of its own: ending a part ends its descendants.
    const child = spawn(program, args, {
      cwd: this.#cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#running.add(child);
    const parts: Buffer[] = [];
    const log = createWriteStream(join(this.#folder, `${name.replaceAll(/\W+/g, '-')}.log`));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        parts.push(part);
        log.write(part);
        if (live) this.#print(part);
      });
    const code = await new Promise<number | string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (status, signal) => resolve(status ?? `ended by ${signal}`));
    });
    this.#running.delete(child);
    log.end();
    const output = Buffer.concat(parts).toString();
    if (!live) this.#print(`--- ${name}\n${output}`);
    return this.#add(name, code, began, output);
  }

  #add(name: string, code: number | string, began: number, output: string): Result {
    const skips = [...output.matchAll(skippedLine)].map(([, reason = '']) => reason);
    // A test runner that ran some tests has passed, even if it skipped others.
    const allSkipped = !/\d+ passed/.test(output);
    const failure = code === 0 ? [] : [typeof code === 'number' ? `exit code ${code}` : code];
    const result: Result = {
      name,
      outcome: outcomeOf(code === 0 ? 0 : 1, skips, allSkipped),
      seconds: Math.round((performance.now() - began) / 1000),
      reasons: [...failure, ...skips],
      output,
    };
    this.results.push(result);
    return result;
  }

  /** Records a part that was not started. */
  skip(name: string, reason: string): void {
    this.results.push({ name, outcome: 'skipped', seconds: 0, reasons: [reason], output: '' });
  }

  /** Ends running parts. */
  end(): void {
    for (const { pid } of this.#running) if (pid) process.kill(-pid, 'SIGTERM');
  }
}

/** One row per part, and one per unproven item. */
export const tableOf = (results: Result[]): string => {
  const width = Math.max(...results.map(({ name }) => name.length));
  const rows = results.map(({ name, outcome, seconds, reasons, firstFailures = [] }) => {
    const head = `${name.padEnd(width)}  ${outcome.padEnd(7)}  ${String(seconds).padStart(4)} s`;
    return [
      head,
      ...reasons.map((reason) => `${' '.repeat(width)}  ${outcome === 'failed' ? '' : 'not proven: '}${reason}`),
      ...firstFailures.map((failure) => `${' '.repeat(width)}  at the second try only: ${failure.split('\n', 1)[0]}`),
    ];
  });
  return rows.flat().join('\n');
};

/** Whether the run is a success: no part failed and, in strict mode, nothing was skipped. */
export const isProven = (results: Result[], strict: boolean): boolean =>
  results.every(({ outcome, reasons }) => outcome !== 'failed' && !(strict && reasons.length > 0));
