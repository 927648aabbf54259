import { fill, nextOf, place, type Rule, valueAt } from '#infra/local/aws/step-functions/expressions.ts';

/**
 * Runs executions of the run machine state by state, with the states' functions given by the test, which chooses the
 * next steps, repeats and failures. Follows Retry, Catch, Choice and Map like Amazon States Language; an unknown
 * construct is an error.
 */

interface State {
  Type: 'Task' | 'Choice' | 'Map' | 'Fail';
  Resource?: string;
  Parameters?: { FunctionName: string; Payload: Record<string, unknown> };
  ItemsPath?: string;
  ItemSelector?: Record<string, unknown>;
  ItemProcessor?: Machine;
  ResultSelector?: object;
  ResultPath?: string | null;
  Choices?: Rule[];
  Default?: string;
  Retry?: { ErrorEquals: string[]; MaxAttempts: number }[];
  Catch?: { ErrorEquals: string[]; ResultPath?: string | null; Next: string }[];
  HeartbeatSeconds?: number;
  Error?: string;
  Next?: string;
  End?: boolean;
}
export interface Machine {
  StartAt: string;
  States: Record<string, State>;
}
type Data = Record<string, unknown>;
type Functions = (name: string, payload: Record<string, unknown>) => Promise<unknown>;

interface Thread {
  machine: Machine;
  state: string;
  enteredAt: string;
  data: Data;
  /** Set while a task waits for its token. */
  token?: string;
  attempts: number;
  parent?: Thread;
  children?: Thread[];
}

export class ExecutionError extends Error {}

const errorName = (error: unknown): string => (error as Error).name || 'Error';
const matches = (patterns: string[], name: string): boolean =>
  patterns.includes(name) || patterns.includes('States.ALL');

export class Execution {
  readonly name: string;
  readonly #functions: Functions;
  #threads: Thread[];
  #tokens = 0;
  #failed = false;
  /** Names of all entered states, including the tasks of a stage. */
  readonly entered: string[] = [];

  constructor(name: string, machine: Machine, input: Data, functions: Functions) {
    this.name = name;
    this.#functions = functions;
    this.#threads = [{ machine, state: '', enteredAt: '', data: input, attempts: 0 }];
    this.#enter(this.#threads[0] as Thread, machine.StartAt);
  }

  get running(): boolean {
    return this.#threads.length > 0;
  }
  get status(): 'RUNNING' | 'FAILED' | 'SUCCEEDED' {
    if (this.#failed) return 'FAILED';
    return this.running ? 'RUNNING' : 'SUCCEEDED';
  }

  /** States whose function has to be called, and states that wait. */
  get ready(): string[] {
    return this.#threads.filter(({ token, children }) => !token && !children).map(({ state }) => state);
  }
  get waiting(): string[] {
    return this.#threads.filter(({ token }) => token).map(({ state }) => state);
  }

  /** Calls the function of a state; with `fail` the call then fails, like after a crash. */
  async step(index: number): Promise<void> {
    const ready = this.#threads.filter(({ token, children }) => !token && !children);
    const thread = ready[index % Math.max(1, ready.length)];
    if (!thread) return;
    const state = stateOf(thread);
    const { FunctionName, Payload } = state.Parameters as { FunctionName: string; Payload: Record<string, unknown> };
    const waits = state.Resource?.endsWith('waitForTaskToken');
    // The answer can arrive while the function still runs.
    const token = waits ? `${this.name}/${++this.#tokens}` : undefined;
    thread.token = token;
    try {
      const result = { Payload: await this.#functions(FunctionName, this.#fill(Payload, thread, token)) };
      if (waits) return;
      const selector = state.ResultSelector;
      this.#succeed(thread, selector ? this.#fill(selector, thread, token, result) : result);
    } catch (error) {
      // The token was answered, or the thread ended, while the function failed.
      if (!this.#threads.includes(thread) || (waits && thread.token !== token)) return;
      this.#fail(thread, { Error: errorName(error), Cause: String(error) });
    }
  }

  /** SendTaskSuccess and SendTaskFailure; a token that is no longer valid has no effect. */
  answer(token: string, outcome: { output: Data } | { error: { Error: string; Cause?: string } }): void {
    const thread = this.#threads.find((one) => one.token === token);
    if (!thread) return;
    if ('output' in outcome) this.#succeed(thread, outcome.output);
    else this.#fail(thread, outcome.error);
  }

  /** A waiting state reaches a time limit, or misses a heartbeat. */
  timeOut(index: number, missedBeat: boolean): void {
    const waiting = this.#threads.filter(({ token }) => token);
    const thread = waiting[index % Math.max(1, waiting.length)];
    if (!thread) return;
    const beats = missedBeat && stateOf(thread).HeartbeatSeconds !== undefined;
    this.#fail(thread, { Error: beats ? 'States.HeartbeatTimeout' : 'States.Timeout' });
  }

  #enter(thread: Thread, name: string): void {
    thread.state = name;
    thread.enteredAt = new Date().toISOString();
    thread.token = undefined;
    thread.attempts = 0;
    this.entered.push(name);
    const state = stateOf(thread);
    if (state.Type === 'Choice') {
      this.#enter(thread, nextOf(state, { input: thread.data, context: contextOf(thread) }));
    } else if (state.Type === 'Fail') {
      this.#fail(thread, { Error: state.Error as string });
    } else if (state.Type === 'Map') {
      const items = valueAt(state.ItemsPath as string, { input: thread.data, context: {} }) as unknown[];
      thread.children = items.map((item): Thread => {
        const context = { ...contextOf(thread), Map: { Item: { Value: item } } };
        const data = fill(state.ItemSelector, { input: thread.data, context }) as Data;
        return { machine: state.ItemProcessor as Machine, state: '', enteredAt: '', data, attempts: 0, parent: thread };
      });
      this.#threads.push(...thread.children);
      for (const child of [...thread.children]) this.#enter(child, child.machine.StartAt);
    }
  }

  #succeed(thread: Thread, result: Data): void {
    const state = stateOf(thread);
    thread.data = place(thread.data, state.ResultPath, result) as Data;
    if (state.Next) this.#enter(thread, state.Next);
    else this.#end(thread);
  }

  #end(thread: Thread): void {
    this.#threads = this.#threads.filter((one) => one !== thread);
    const { parent } = thread;
    if (!parent?.children?.every((child) => !this.#threads.includes(child))) return;
    parent.children = undefined;
    this.#succeed(parent, {});
  }

  #fail(thread: Thread, error: { Error: string; Cause?: string }): void {
    const state = stateOf(thread);
    thread.token = undefined;
    const retry = state.Retry?.find(({ ErrorEquals }) => matches(ErrorEquals, error.Error));
    if (retry && thread.attempts++ < retry.MaxAttempts) return;
    const caught = state.Catch?.find(({ ErrorEquals }) => matches(ErrorEquals, error.Error));
    if (caught) {
      thread.data = place(thread.data, caught.ResultPath, error) as Data;
      this.#enter(thread, caught.Next);
      return;
    }
    const { parent } = thread;
    if (!parent) {
      this.#failed = true;
      this.#threads = [];
      throw new ExecutionError(`${this.name} failed in ${thread.state}: ${error.Error} ${error.Cause}`);
    }
    // One failed iteration ends all others.
    this.#threads = this.#threads.filter((one) => one.parent !== parent);
    parent.children = undefined;
    this.#fail(parent, error);
  }

  #fill(template: object, thread: Thread, token?: string, input: Data = thread.data): Data {
    return fill(template, { input, context: contextOf(thread, token) }) as Data;
  }
}

const contextOf = ({ state, enteredAt, attempts }: Thread, token?: string) => ({
  State: { Name: state, EnteredTime: enteredAt, RetryCount: attempts },
  ...(token !== undefined && { Task: { Token: token } }),
});

const stateOf = ({ machine, state }: Thread): State => {
  const definition = machine.States[state];
  if (!definition) throw new Error(`no state ${state}`);
  return definition;
};
