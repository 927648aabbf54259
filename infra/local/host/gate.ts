import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '#infra/local/aws/iam/iam.ts';
import type { Lambda } from '#infra/local/aws/lambda/lambda.ts';
import { rootOf, type Units, type Usage } from '#infra/local/aws/lambda/usage.ts';
import { Cut } from './answers.ts';
import type { Caller } from './callers.ts';
import { type Faults, leaveUnprocessed, refuse } from './faults.ts';

/** One AWS call in any protocol. */
export interface Call {
  service: string;
  action: string;
  caller: Caller;
  access: Access[];
  /** Trace header of the request. */
  traceHeader: string | undefined;
  /** Root of the trace that it counts for. */
  trace: string | undefined;
  /** What the call reads or writes, shown in the count of a run's calls. */
  subject?: string;
}

export interface GateOptions {
  faults: Faults;
  lambda: Lambda;
  usage: Usage;
  log(line: string): void;
}

/** Every AWS call passes through here: permission check, fault rules, service, count. */
export class Gate {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  async perform<T>(call: Call, perform: () => Promise<{ output: T; units: Units }>): Promise<T> {
    const { service, action, trace, subject } = call;
    const { usage } = this.#options;
    for (const access of call.access) this.permit(call.caller, access);
    try {
      const { output, units } = await this.#faulty(call, perform);
      usage.record(trace, service, action, units, subject);
      return output;
    } catch (error) {
      const failedCondition = (error as Error).name === 'ConditionalCheckFailedException';
      usage.record(trace, service, action, failedCondition ? { writeUnits: 1 } : {}, subject);
      throw error;
    }
  }

  /** A denial is logged even if its function ignores it, because AWS would not report it. */
  permit(caller: Caller, access: Access): void {
    try {
      caller.check(access);
    } catch (error) {
      this.#options.log((error as Error).message);
      throw error;
    }
  }

  /**
   * Root of the trace.
   * @param text returns the text that may contain the trace's run
   */
  traced(traceHeader: string | undefined, text?: () => string): string | undefined {
    const trace = rootOf(traceHeader);
    if (trace && text && !this.#options.usage.runOf(trace)) this.#options.usage.see(trace, text());
    return trace;
  }

  async #faulty<T>(
    { service, action, caller, access, traceHeader }: Call,
    perform: () => Promise<{ output: T; units: Units }>,
  ) {
    const { faults, lambda } = this.#options;
    if (lambda.isDead(traceHeader)) throw new Cut();
    const partition = access[0]?.context?.['dynamodb:LeadingKeys'];
    const matched = { service, action, function: caller.name, partition };
    const fault = faults.ofCall(matched);
    if (!fault) {
      const done = await perform();
      faults.spent(matched, done.units);
      return done;
    }
    const { kind, ms = 1000 } = fault;
    if (kind === 'refuse' || kind === 'limit') return { output: refuse(service, action, fault) as T, units: {} };
    if (kind === 'slow') await sleep(ms);
    if (kind === 'kill') lambda.kill(traceHeader);
    if (kind === 'kill') throw new Cut();
    const done = await perform();
    if (kind === 'slow') return done;
    if (kind === 'unprocessed') return { ...done, output: leaveUnprocessed(done.output as object) as T };
    if (kind === 'kill-after') lambda.kill(traceHeader);
    throw new Cut();
  }
}
