import { mkdirSync } from 'node:fs';
import type { Database } from '#infra/local/host/database.ts';
import { Catalog, type Entry, type Status } from './catalog.ts';
import { type Clock, systemClock } from './clock.ts';
import { type StatusChange, statusChangeEvent } from './describe.ts';
import { type End, Execution, type ExecutionOptions, type PendingTask } from './execution.ts';
import { Failure } from './failure.ts';
import { runStates } from './interpreter.ts';
import { Journals, type Line } from './journal.ts';
import { Lane } from './lane.ts';
import { Machines, type StateMachine } from './machines.ts';
import { isTransition } from './recording.ts';
import { Halted } from './scope.ts';
import type { Invoke } from './task-host.ts';
import { Tokens } from './token.ts';

export interface StepFunctionsOptions {
  /** Used only by this service: definitions, the key of the tokens. */
  dataDir: string;
  /** Journals and their catalog. */
  database: Database;
  accountId: string;
  region: string;
  invoke: Invoke;
  /**
   * EventBridge's "Step Functions Execution Status Change", the complete event. After a crash an end may be published
   * twice.
   */
  onStatusChange(event: StatusChange): void;
  clock?: Clock;
  /** Maximum of ended executions to keep; they are dropped after 90 days in any case. */
  keep?: number;
}

const day = 24 * 3600 * 1000;
const reopenMs = 2000;

const statusOf: Record<string, Status> = {
  ExecutionSucceeded: 'SUCCEEDED',
  ExecutionFailed: 'FAILED',
  ExecutionAborted: 'ABORTED',
  ExecutionTimedOut: 'TIMED_OUT',
};

/** All executions: running ones in memory, the others only as an entry of the catalog. */
export class Executions {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly #journals: Journals;
  readonly machines: Machines;
  readonly roleArn: string;
  readonly #options: StepFunctionsOptions;
  readonly #tokens: Tokens;
  readonly #running = new Map<string, Execution>();
  readonly #opening = new Map<string, Promise<boolean>>();
  #closed = false;

  constructor(options: StepFunctionsOptions) {
    const { dataDir, database, keep = 10_000 } = options;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.roleArn = `arn:aws:iam::${options.accountId}:role/StepFunctions`;
    mkdirSync(dataDir, { recursive: true });
    this.machines = new Machines(dataDir);
    this.#tokens = new Tokens(dataDir);
    this.#journals = new Journals(database);
    this.catalog = new Catalog(database, { ms: 90 * day, count: keep });
    this.#prune();
  }

  /** The journal of an execution so far. */
  linesOf(entry: Entry): Line[] {
    this.#running.get(entry.executionArn)?.flush();
    return this.#journals.read(entry.executionArn);
  }

  start(machine: StateMachine, name: string, executionArn: string, input: string): Entry {
    const entry: Entry = {
      executionArn,
      stateMachineArn: machine.arn,
      name,
      status: 'RUNNING',
      start: this.clock.now(),
      redriveCount: 0,
      transitions: 0,
      events: 0,
    };
    const { revision } = machine;
    this.catalog.put(entry);
    const details = { input, roleArn: this.roleArn };
    this.#run(entry, { input, revision, lines: [], begin: { type: 'ExecutionStarted', details, note: { revision } } });
    return entry;
  }

  redrive(entry: Entry, redriveToken: string | undefined): void {
    const lines = this.#journals.read(entry.executionArn);
    const redriveCount = entry.redriveCount + 1;
    const redriven = this.clock.now();
    Object.assign(entry, { status: 'RUNNING', stop: undefined, redriveCount, redriven, redriveToken });
    this.catalog.put(entry);
    this.#run(entry, { ...startOf(lines), lines, begin: { type: 'ExecutionRedriven', details: { redriveCount } } });
  }

  /** The running execution, resumed first if the service has restarted; undefined if it has ended. */
  async running(entry: Entry): Promise<Execution | undefined> {
    if (entry.status === 'RUNNING') await this.open(entry);
    return this.#running.get(entry.executionArn);
  }

  /** Ended executions and those from before a restart are not in memory. */
  inMemory(entry: Entry): Execution | undefined {
    return this.#running.get(entry.executionArn);
  }

  /** The task of a token; undefined for a token that this service did not issue. */
  async taskOf(token: string): Promise<{ execution?: Execution; pending?: PendingTask; known: boolean } | undefined> {
    const task = this.#tokens.read(token);
    if (!task) return undefined;
    const entry = this.catalog.get(task.executionArn);
    if (entry?.start !== task.startedAt) return { known: false };
    const execution = await this.running(entry);
    return { known: true, execution, pending: execution?.pending.get(task.task) };
  }

  suspendAll(): void {
    this.#closed = true;
    for (const execution of this.#running.values()) execution.suspend();
    this.#running.clear();
    this.#journals.commit();
  }

  /** Whether this call resumed an execution from before a restart. Its waiting tasks can be found then. */
  open(entry: Entry): Promise<boolean> {
    const { executionArn } = entry;
    if (this.#closed) return Promise.resolve(false);
    let opening = this.#opening.get(executionArn);
    if (!opening) {
      if (this.#running.has(executionArn)) return Promise.resolve(false);
      opening = this.#reopen(entry).finally(() => this.#opening.delete(executionArn));
      this.#opening.set(executionArn, opening);
    }
    return opening;
  }

  async #reopen(entry: Entry): Promise<boolean> {
    const lines = this.#journals.read(entry.executionArn);
    const last = lines.at(-1);
    // The process died before StartExecution returned.
    if (!last) {
      this.catalog.remove(entry);
      return false;
    }
    const { input, revision } = startOf(lines);
    const status = statusOf[last.type];
    if (status) {
      // The process died after it recorded the end and before it published the event.
      const transitions = lines.filter(isTransition).length;
      Object.assign(entry, { status, stop: last.at, events: last.id, transitions });
      this.#ended(entry, input, endOf(lines));
      return false;
    }
    this.#run(entry, { input, revision, lines });
    // Replaying the journal waits only for promises; the first calls wait for what it records.
    await new Promise((resolve) => setImmediate(resolve));
    await this.written();
    return true;
  }

  #run(entry: Entry, start: Pick<ExecutionOptions, 'input' | 'lines' | 'begin'> & { revision: string }): void {
    const { input, lines, begin, revision } = start;
    const machine = this.machines.revision(revision);
    const execution = new Execution({
      entry,
      input,
      lines,
      begin,
      machine,
      journals: this.#journals,
      clock: this.clock,
      roleArn: this.roleArn,
      ended: (end) => {
        this.#running.delete(entry.executionArn);
        this.#afterWrite(() => this.#ended(entry, input, end));
      },
      broken: (error) => this.#reopenLater(entry, error),
    });
    execution.flush();
    this.#running.set(entry.executionArn, execution);
    if (begin) this.#afterWrite(() => this.#tell(entry, input, {}));
    const { scope, pending } = execution;
    const lane = new Lane(execution, { path: '', scope, previous: 0 });
    const { executionArn, start: startedAt, name: executionName } = entry;
    const { region } = this.#options;
    const invoke: Invoke = async (...call) => {
      await this.#journals.written();
      return this.#options.invoke(...call);
    };
    const issueToken = (task: string) => this.#tokens.issue({ executionArn, startedAt, task });
    runStates(lane, machine, () => JSON.parse(input), { invoke, region, executionName, pending, issueToken })
      .then((output) => execution.finish('SUCCEEDED', { output: JSON.stringify(output) }, lane.previous))
      .catch((error: unknown) => {
        // The execution has already ended or been suspended, e.g. because its journal could not be written.
        if (error instanceof Halted || scope.cancelled) return;
        if (!(error instanceof Failure)) console.error(`Execution ${executionName} failed unexpectedly:`, error);
        const fields = error instanceof Failure ? error.fields : { error: 'States.Runtime', cause: String(error) };
        execution.finish('FAILED', fields, lane.previous);
      });
  }

  /** An effect of what was recorded so far. If that is lost, or the service stops, it follows when the execution resumes. */
  #afterWrite(act: () => void): void {
    const unlessClosed = () => {
      if (!this.#closed) act();
    };
    this.#journals.written().then(unlessClosed, () => {});
  }

  /** Resolves when the effects of everything so far may be visible. */
  written(): Promise<void> {
    return this.#journals.written();
  }

  /** Resumes as after a restart, once its journal can be written: a full disk ends no execution. */
  #reopenLater(entry: Entry, error: Error): void {
    this.#running.delete(entry.executionArn);
    console.error(`The journal of execution ${entry.name} cannot be written: ${error.message}`);
    const again = () => {
      if (entry.status === 'RUNNING') this.open(entry).catch((failure: Error) => this.#reopenLater(entry, failure));
    };
    this.clock.after(reopenMs, again);
  }

  /** Fails an execution that can never continue. */
  abandon(entry: Entry, { message }: Error): void {
    Object.assign(entry, { status: 'FAILED', stop: this.clock.now() });
    this.#ended(entry, '{}', { error: 'States.Runtime', cause: message });
  }

  /** The event comes before the mark: a crash in between publishes it again. */
  #ended(entry: Entry, input: string, end: End): void {
    this.#tell(entry, input, end);
    this.catalog.put(entry);
    this.#journals.compress(entry.executionArn);
    this.#prune();
  }

  #prune(): void {
    for (const { executionArn } of this.catalog.prune(this.clock.now())) this.#journals.remove(executionArn);
  }

  #tell(entry: Entry, input: string, end: End): void {
    try {
      this.#options.onStatusChange(statusChangeEvent(entry, input, end, this.clock.now()));
    } catch (error) {
      console.error(`The status change of ${entry.name} to ${entry.status} was not taken:`, error);
    }
  }
}

export const startOf = (lines: readonly Line[]): { input: string; revision: string } => ({
  input: (lines[0]?.details?.input as string | undefined) ?? '{}',
  revision: lines[0]?.note?.revision as string,
});

/** Empty while the execution runs. A machine's timeout has neither error nor cause, although its event has (AWS). */
export const endOf = (lines: readonly Line[]): End => {
  const { type, details } = lines.at(-1) ?? {};
  return type === undefined || !(type in statusOf) || type === 'ExecutionTimedOut' ? {} : (details as End);
};
