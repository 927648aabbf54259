import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Catalog } from '#infra/local/aws/step-functions/catalog.ts';
import type { Clock } from '#infra/local/aws/step-functions/clock.ts';
import { Journals, type Line } from '#infra/local/aws/step-functions/journal.ts';
import { type StatusChange, StepFunctionsService } from '#infra/local/aws/step-functions/service.ts';
import { Database } from '#infra/local/host/database.ts';
import { executionArn, machineArn } from './step-functions.machines.ts';

export * from './step-functions.machines.ts';

/** A clock that only tests advance. */
export class TestClock implements Clock {
  #now: number;
  readonly #timers = new Set<{ at: number; run: () => void }>();

  constructor(now = Date.parse('2030-01-01T00:00:00Z')) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Sets the system clock back; timers are not affected (infra/local/aws/step-functions/clock.ts). */
  setBack(seconds: number): void {
    this.#now -= seconds * 1000;
    for (const timer of this.#timers) timer.at -= seconds * 1000;
  }

  /** Timers that are pending. */
  get armed(): number {
    return this.#timers.size;
  }

  /** Advances the clock; due timers run in order, each with all its consequences. */
  async pass(seconds: number): Promise<void> {
    const end = this.#now + seconds * 1000;
    for (;;) {
      await turn();
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
    }
    this.#now = end;
    await turn();
  }
}

/** A turn for what happens, one to record it, one for its effects. */
const turn = async (): Promise<void> => {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
};

/** Waits for everything that happens without time passing. */
export const until = async <T>(what: () => T | undefined | false | null): Promise<T> => {
  const end = Date.now() + 120_000;
  while (Date.now() < end) {
    const found = what();
    if (found) return found;
    await turn();
  }
  throw new Error(`It did not happen: ${what}`);
};

export interface Call {
  functionArn: string;
  payload: { token?: string } & Record<string, unknown>;
  executionName: string;
  stateName: string;
}

export type Answer = (call: Call, count: number) => unknown;

/** A service on a folder, with a clock, a function for every call, and a record of the calls. */
export class Bench {
  readonly calls: Call[] = [];
  readonly events: StatusChange[] = [];
  readonly clock: TestClock;
  readonly dataDir: string;
  readonly database: Database;
  readonly service: StepFunctionsService;

  constructor(
    definition: object,
    answer: Answer = () => null,
    options: { dataDir?: string; clock?: TestClock; keep?: number } = {},
  ) {
    this.clock = options.clock ?? new TestClock();
    this.dataDir = options.dataDir ?? folder();
    this.database = Database.open(this.dataDir);
    this.service = new StepFunctionsService({
      dataDir: this.dataDir,
      database: this.database,
      accountId: '000000000000',
      region: 'us-east-1',
      clock: this.clock,
      keep: options.keep,
      invoke: async (functionArn, payload, { executionName, stateName }) => {
        const call = { functionArn, payload: payload as Call['payload'], executionName, stateName };
        this.calls.push(call);
        return answer(call, this.calls.length);
      },
      onStatusChange: (event) => this.events.push(event),
    });
    this.service.createStateMachine(machineArn, definition);
    onTestFinished(async () => {
      await this.service.close();
      this.database.close();
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
  async call(action: string, input: object): Promise<any> {
    return this.service.handle(action, input);
  }

  /** Error code of an action. */
  async refused(action: string, input: object): Promise<string> {
    const error = await this.service.handle(action, input).then(
      (answer) => new Error(`answered ${JSON.stringify(answer)}`),
      (thrown: Error) => thrown,
    );
    return error.name === 'Error' ? error.message : error.name;
  }

  async start(name = 'run-1', input: unknown = {}) {
    return this.call('StartExecution', { stateMachineArn: machineArn, name, input: JSON.stringify(input) });
  }

  async describe(name = 'run-1') {
    return this.call('DescribeExecution', { executionArn: executionArn(name) });
  }

  async output(name = 'run-1'): Promise<unknown> {
    const { output } = await this.describe(name);
    return output === undefined ? undefined : JSON.parse(output as string);
  }

  // biome-ignore lint/suspicious/noExplicitAny: events are read field by field
  async history(name = 'run-1'): Promise<any[]> {
    const { events } = await this.call('GetExecutionHistory', { executionArn: executionArn(name), maxResults: 1000 });
    return events;
  }

  async types(name = 'run-1'): Promise<string[]> {
    return (await this.history(name)).map(({ type }) => type);
  }

  /** Once the execution has ended, and its end is recorded. */
  async ended(name = 'run-1') {
    await until(() => this.events.some(({ detail }) => detail.name === name && detail.status !== 'RUNNING'));
    await turn();
    return this.describe(name);
  }

  /** The call with this number, once it has been made and recorded. */
  async called(count = 1): Promise<Call> {
    const call = await until(() => this.calls[count - 1]);
    await turn();
    return call;
  }

  async token(count = 1): Promise<string> {
    return (await this.called(count)).payload.token!;
  }

  succeed(taskToken: string, output: unknown = {}) {
    return this.call('SendTaskSuccess', { taskToken, output: JSON.stringify(output) });
  }

  fail(taskToken: string, error: string, cause = 'because') {
    return this.call('SendTaskFailure', { taskToken, error, cause });
  }
}

export const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'step-functions-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** The state of a folder after a kill -9 at this moment. */
export const killed = (dataDir: string): string => {
  const copy = folder();
  cpSync(dataDir, copy, { recursive: true });
  return copy;
};

const inDatabase = <T>(dataDir: string, work: (database: Database) => T): T => {
  const database = Database.open(dataDir);
  try {
    return work(database);
  } finally {
    database.close();
  }
};

/** The journal on disk. */
export const linesOf = (dataDir: string, name = 'run-1'): Line[] =>
  inDatabase(dataDir, (database) => new Journals(database).read(executionArn(name)));

/** The journal as it was after its first lines, in a catalog that still lists the execution as running. */
export const cutAfter = (dataDir: string, count: number, name = 'run-1'): void =>
  inDatabase(dataDir, (database) => {
    const journals = new Journals(database);
    const lines = journals.read(executionArn(name)).slice(0, count);
    journals.remove(executionArn(name));
    if (count) journals.append(executionArn(name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const catalog = new Catalog(database, { ms: Number.POSITIVE_INFINITY, count: Number.POSITIVE_INFINITY });
    catalog.put({ ...catalog.get(executionArn(name))!, status: 'RUNNING', stop: undefined, transitions: 0, events: 0 });
  });

/** Number of executions with a journal. */
export const countJournals = ({ database }: Bench): number =>
  database.statement('SELECT arn FROM journals UNION SELECT arn FROM executions WHERE journal IS NOT NULL').all()
    .length;

/** A second process on the state after a kill -9 of the first, at the same time. */
export const restart = (bench: Bench, definition: object, answer?: Answer): Bench =>
  new Bench(definition, answer, { dataDir: killed(bench.dataDir), clock: bench.clock });

/** Throws the error of a function. */
export const throwing =
  (name: string, message = 'went wrong') =>
  (): never => {
    const error = new Error(message);
    error.name = name;
    throw error;
  };
