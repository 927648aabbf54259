import { randomUUID } from 'node:crypto';
import { AwsError, StartError } from '#infra/local/host/errors.ts';
import type { Entry } from './catalog.ts';
import { description, listItem, notRedrivable } from './describe.ts';
import type { PendingTask } from './execution.ts';
import { Executions, endOf, type StepFunctionsOptions, startOf } from './executions.ts';
import { historyOf } from './history.ts';
import type { StateMachine } from './machines.ts';
import { arn, executionName, type Input, json, oneOf, optionalText, page, text } from './validate.ts';

export type { StatusChange } from './describe.ts';
export type { StepFunctionsOptions } from './executions.ts';

const statuses = ['RUNNING', 'SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT', 'PENDING_REDRIVE'] as const;

/** A repeated RedriveExecution with the same token is the same redrive for this long (API reference). */
const redriveTokenMs = 15 * 60 * 1000;

/**
 * AWS Step Functions (Standard workflows, JSONPath) on one machine. Everything survives a restart, even a kill -9: each
 * execution has a journal on disk, which is its history and the point of resumption.
 */
export class StepFunctionsService {
  readonly #executions: Executions;
  readonly #actions: Record<string, (input: Input) => object | Promise<object>> = {
    StartExecution: (input) => this.#start(input),
    StopExecution: (input) => this.#stop(input),
    RedriveExecution: (input) => this.#redrive(input),
    DescribeExecution: (input) => this.#describe(input),
    ListExecutions: (input) => this.#list(input),
    GetExecutionHistory: (input) => this.#history(input),
    SendTaskSuccess: (input) => this.#sendSuccess(input),
    SendTaskFailure: (input) => this.#sendFailure(input),
    SendTaskHeartbeat: (input) => this.#send(input, (pending) => pending.beat()),
    DescribeStateMachine: (input) => this.#describeMachine(input),
    ListStateMachines: (input) => this.#listMachines(input),
  };
  #closed = false;

  constructor(options: StepFunctionsOptions) {
    this.#executions = new Executions(options);
  }

  /**
   * Creates or updates a machine; running executions keep their definition.
   * @throws Error for a definition that this service cannot run
   */
  createStateMachine(stateMachineArn: string, definition: object): void {
    const { machines, clock } = this.#executions;
    machines.put(stateMachineArn, definition, clock.now());
  }

  /**
   * One action of the API, with or without the prefix of X-Amz-Target.
   * @throws AwsError whose name is the error code
   */
  async handle(action: string, input: object): Promise<object> {
    if (this.#closed) throw new AwsError('ServiceUnavailable', 'The platform is stopping', 503);
    const name = action.slice(action.lastIndexOf('.') + 1);
    if (!Object.hasOwn(this.#actions, name)) throw new AwsError('UnknownOperationException', `Unknown action ${name}`);
    const answer = await this.#actions[name]!(input as Input);
    await this.#executions.written();
    return answer;
  }

  /**
   * After a restart: resumes the unfinished executions. An action on such an execution does not wait for this. An
   * execution with a damaged definition fails, so that its run ends.
   */
  async resume(): Promise<{ resumed: number }> {
    let resumed = 0;
    for (const entry of this.#executions.catalog.all()) {
      if (entry.status !== 'RUNNING') continue;
      try {
        if (await this.#executions.open(entry)) resumed++;
      } catch (error) {
        console.error(`Execution ${entry.name} cannot continue:`, error);
        if (error instanceof StartError) this.#executions.abandon(entry, error);
      }
    }
    return { resumed };
  }

  /** Stops immediately; another service on the same folder can resume. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#executions.suspendAll();
  }

  /** State transitions so far, including redrives and retries, as AWS bills them; 0 for an unknown name. */
  transitions(name: string): number {
    const entry = this.#executions.catalog.all().findLast((it) => it.name === name);
    return entry ? (this.#executions.inMemory(entry)?.transitions ?? entry.transitions) : 0;
  }

  async #start(input: Input): Promise<object> {
    const machine = this.#machine(input);
    const name = executionName(input) ?? randomUUID();
    const given = optionalText(input, 'input') ?? '{}';
    const data = json(given, 'input', 'InvalidExecutionInput', 'Invalid State Machine Execution Input');
    const executionArn = `${machine.arn.replace(':stateMachine:', ':execution:')}:${name}`;
    const existing = this.#executions.catalog.get(executionArn);
    if (existing) {
      const running = await this.#executions.running(existing);
      if (running?.input === data) return { executionArn, startDate: new Date(existing.start) };
      // Unless the journal shows that its start was never recorded.
      if (this.#executions.catalog.get(executionArn)) {
        throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${executionArn}'`);
      }
    }
    const { start } = this.#executions.start(machine, name, executionArn, data);
    return { executionArn, startDate: new Date(start) };
  }

  async #stop(input: Input): Promise<object> {
    const entry = this.#entry(input);
    const end = { error: optionalText(input, 'error', 256), cause: optionalText(input, 'cause', 32_768) };
    (await this.#executions.running(entry))?.finish('ABORTED', end);
    return { stopDate: new Date(entry.stop!) };
  }

  async #redrive(input: Input): Promise<object> {
    const entry = this.#entry(input);
    const token = optionalText(input, 'clientToken', 64);
    const now = this.#executions.clock.now();
    const repeated = token !== undefined && token === entry.redriveToken && now - entry.redriven! < redriveTokenMs;
    if (!repeated) {
      const reason = notRedrivable(entry, now);
      if (reason) throw new AwsError('ExecutionNotRedrivable', `Execution Not Redrivable: '${reason}'`);
      this.#executions.redrive(entry, token);
    }
    return { redriveDate: new Date(entry.redriven!) };
  }

  #describe(input: Input): object {
    const entry = this.#entry(input);
    const running = this.#executions.inMemory(entry);
    const now = this.#executions.clock.now();
    if (running) return description(entry, running.input, {}, now);
    const lines = this.#executions.linesOf(entry);
    return description(entry, startOf(lines).input, endOf(lines), now);
  }

  #list(input: Input): object {
    const machine = this.#machine(input);
    const status = oneOf(input, 'statusFilter', statuses);
    const redrive = oneOf(input, 'redriveFilter', ['REDRIVEN', 'NOT_REDRIVEN']);
    const entries = this.#executions.catalog
      .all()
      .filter((entry) => entry.stateMachineArn === machine.arn && (!status || entry.status === status))
      .filter(({ redriveCount }) => !redrive || redriveCount > 0 === (redrive === 'REDRIVEN'))
      .reverse()
      .sort((a, b) => b.start - a.start);
    const { items, nextToken } = page(entries, input);
    return { executions: items.map(listItem), nextToken };
  }

  #history(input: Input): object {
    const lines = this.#executions.linesOf(this.#entry(input)).filter(({ id }) => id > 0);
    if (input.reverseOrder === true) lines.reverse();
    const { items, nextToken } = page(lines, input);
    return { events: historyOf(items, input.includeExecutionData !== false), nextToken };
  }

  #sendSuccess(input: Input): Promise<object> {
    const output = json(text(input, 'output'), 'output', 'InvalidOutput', 'Invalid Output');
    return this.#send(input, (pending) => pending.settle('TaskSucceeded', { output }));
  }

  #sendFailure(input: Input): Promise<object> {
    const details = { error: optionalText(input, 'error', 256), cause: optionalText(input, 'cause', 32_768) };
    return this.#send(input, (pending) => pending.settle('TaskFailed', details));
  }

  /** A task that no longer waits is reported as timed out, for any reason (seen on AWS). */
  async #send(input: Input, act: (pending: PendingTask) => void): Promise<object> {
    const task = await this.#executions.taskOf(text(input, 'taskToken', 2048));
    if (!task) throw new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");
    const { execution, pending, known } = task;
    if (!known) throw new AwsError('TaskDoesNotExist', "Task Does Not Exist: 'Provided task does not exist'");
    if (!execution || !pending) {
      throw new AwsError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
    }
    act(pending);
    execution.flush();
    return {};
  }

  #describeMachine(input: Input): object {
    const { arn: stateMachineArn, name, definition, created } = this.#machine(input);
    return {
      stateMachineArn,
      name,
      status: 'ACTIVE',
      type: 'STANDARD',
      definition: JSON.stringify(definition),
      roleArn: this.#executions.roleArn,
      creationDate: new Date(created),
      loggingConfiguration: { level: 'OFF', includeExecutionData: false },
      tracingConfiguration: { enabled: false },
    };
  }

  #listMachines(input: Input): object {
    const { items, nextToken } = page(this.#executions.machines.all(), input);
    const stateMachines = items.map(({ arn: stateMachineArn, name, created }) => {
      return { stateMachineArn, name, type: 'STANDARD', creationDate: new Date(created) };
    });
    return { stateMachines, nextToken };
  }

  #machine(input: Input): StateMachine {
    const stateMachineArn = arn(input, 'stateMachineArn');
    const machine = this.#executions.machines.get(stateMachineArn);
    if (!machine) throw new AwsError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${stateMachineArn}'`);
    return machine;
  }

  #entry(input: Input): Entry {
    const executionArn = arn(input, 'executionArn');
    const entry = this.#executions.catalog.get(executionArn);
    if (!entry) throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${executionArn}'`);
    return entry;
  }
}
