import { parseArgs } from 'node:util';
import { CommandError, type ExitCode, exit, wrongUsage } from '#clients/cli/exit.ts';
import { program } from '#clients/cli/program.ts';
import { print, printJson, say } from '#clients/cli/terminal.ts';
import { type Check, type Outcome, skipped } from './check.ts';
import { organization } from './checks/organization.ts';
import { checks, inside, outside } from './checks.ts';
import { clean } from './clean.ts';
import { type Listener, listen } from './listener.ts';
import { Platform } from './platform.ts';
import { document, type Line, lineText, overall, summary } from './report.ts';
import { findTarget, type Target } from './target.ts';

/** `stepform verify`: checks a deployment through its public API and AWS's, and removes everything that it created. */

/** Below the Fargate quota of a new account. */
const atOnce = 5;

const { values } = parseArgs({
  options: {
    stack: { type: 'string', default: 'Stepform' },
    local: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    canary: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    clean: { type: 'boolean', default: false },
    listen: { type: 'string' },
    port: { type: 'string', default: '8787' },
  },
});

const isChosen = (check: Check): boolean => {
  if (values.only.length) return values.only.includes(check.name) || check === organization;
  return values.canary ? check.part === 'canary' : check.part !== 'full' || values.full;
};

/** @throws {CommandError} for a name that no check has */
const checkNames = (): void => {
  const unknown = values.only.find((name) => !checks.some((check) => check.name === name));
  const names = checks.map(({ name }) => `"${name}"`).join(', ');
  if (unknown !== undefined) throw wrongUsage(`--only ${unknown}: there is no such check. Give one of ${names}.`);
};

/** @throws {CommandError} */
const listenFor = async ({ kind }: Target): Promise<Listener | undefined> => {
  const { listen: url, port } = values;
  if (!url) return kind === 'local' ? listen() : undefined;
  if (!URL.canParse(url) || !/^\d+$/.test(port)) throw wrongUsage('--listen needs a URL, and --port a number.');
  return listen(url, Number(port)).catch((error: Error) => {
    throw new CommandError(`--listen: port ${port} cannot be used: ${error.message}`);
  });
};

const interrupted = new AbortController();

/** Performs checks and keeps their results in the order of the table. */
class Verification {
  readonly #platform: Platform;
  readonly #lines = new Map<Check, Line>();
  readonly #chosen: Check[];
  #printed = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#chosen = checks.filter((check) => isChosen(check) && (check.isFor?.(platform.target) ?? true));
  }

  get lines(): Line[] {
    return this.#chosen.flatMap((check) => this.#lines.get(check) ?? []);
  }

  readonly #running = new Set<Check>();

  /** On a terminal, the last line names the checks in progress. */
  #showRunning(): void {
    if (values.json || !process.stdout.isTTY) return;
    const names = [...this.#running].map(({ name }) => name).join(', ');
    process.stdout.write(`\r\x1b[K${names ? `… ${names}`.slice(0, 79) : ''}`);
  }

  async #perform(check: Check): Promise<void> {
    const began = performance.now();
    this.#running.add(check);
    this.#showRunning();
    const outcome = await Promise.race([check.perform(this.#platform), this.#interruption]).catch(
      ({ message }: Error): Outcome => ({ result: 'failed', text: message }),
    );
    this.#running.delete(check);
    this.#showRunning();
    if (interrupted.signal.aborted) return;
    this.#lines.set(check, { check, ...outcome, seconds: (performance.now() - began) / 1000 });
    this.#printDone();
    this.#showRunning();
  }

  readonly #interruption = new Promise<never>((_, reject) => {
    interrupted.signal.addEventListener('abort', () => reject(new Error('interrupted')));
  });

  /** A line follows once all earlier ones are printed. */
  #printDone(): void {
    for (;;) {
      const check = this.#chosen[this.#printed];
      const line = check && this.#lines.get(check);
      if (!line) return;
      if (!values.json) print(`${process.stdout.isTTY ? '\r\x1b[K' : ''}${lineText(line)}`);
      this.#printed += 1;
    }
  }

  #of(some: Check[]): Check[] {
    return some.filter((check) => this.#chosen.includes(check));
  }

  async performAll(): Promise<void> {
    this.#interruption.catch(() => undefined);
    for (const check of this.#of([...outside, organization])) await this.#perform(check);
    const chosen = this.#of(inside);
    if (this.#lines.get(organization)?.result !== 'ok') {
      for (const check of chosen) this.#lines.set(check, { check, ...skipped('needs the organization'), seconds: 0 });
      return this.#printDone();
    }
    const waiting = chosen.sort((a, b) => Number(b.isSlow ?? false) - Number(a.isSlow ?? false));
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next && !interrupted.signal.aborted; next = waiting.shift())
        await this.#perform(next);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }
}

/** @returns the reason if something remains */
const removeAll = (platform: Platform): Promise<string | undefined> =>
  platform.remove().then(
    () => undefined,
    ({ message }: Error) => `Removing ${platform.organization} failed: ${message}. Try: ${program} verify --clean`,
  );

const codes: Record<Outcome['result'], ExitCode> = {
  ok: exit.done,
  skipped: exit.done,
  differs: exit.differs,
  failed: exit.failed,
};

const verify = async (): Promise<ExitCode> => {
  checkNames();
  const target = await findTarget(values);
  if (values.clean) {
    const removed = await clean(target);
    print(removed.length ? `Removed: ${removed.join(', ')}` : 'Nothing to remove.');
    return exit.done;
  }
  const startedAt = new Date();
  const listener = await listenFor(target);
  const platform = new Platform(target, listener);
  const verification = new Verification(platform);
  if (!values.json) print(`Verifying ${target.title}\n`);
  let left: string | undefined;
  try {
    await verification.performAll();
  } finally {
    left = await removeAll(platform);
    listener?.close();
  }
  const { lines } = verification;
  if (values.json) printJson(document(target, startedAt, lines));
  else
    print(
      `\n${summary(lines, (Date.now() - startedAt.getTime()) / 1000)}${left ? '' : ' Everything created was removed.'}`,
    );
  if (left) say(left);
  if (interrupted.signal.aborted) return exit.interrupted;
  return left ? exit.failed : codes[overall(lines)];
};

process.on('SIGINT', () => {
  if (interrupted.signal.aborted) process.exit(exit.interrupted);
  say(`Interrupted: removing what was created. Again to stop at once, then: ${program} verify --clean`);
  interrupted.abort();
});
process.on('SIGTERM', () => interrupted.abort());

try {
  process.exit(await verify());
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  say(error.message);
  process.exit(error.exitCode);
}
