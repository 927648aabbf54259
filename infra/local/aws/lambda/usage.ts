import { randomUUID } from 'node:crypto';
import { type Billable, type Price, priceOf } from '../pricing/prices.ts';

/** Amounts besides the count of a call, e.g. `{readUnits: 1}`, `{ms: 12, gbSeconds: 0.003}`. */
export type Units = Record<string, number>;

export interface Call {
  service: string;
  action: string;
  count: number;
  units: Units;
}

/** One call; a run's calls are in order. */
export interface Step {
  /** Trace id, which an invocation and its calls share. */
  trace: string;
  service: string;
  action: string;
  /** For a call to the table: its key, and the changes of an update. For a request: its method and path. */
  subject?: string;
  units: Units;
}

export interface RunUsage {
  run: string;
  calls: Call[];
  totals: Billable;
  price: Price;
}

type Calls = Map<string, Call>;

/** `Root=1-…`: X-Ray's name of a request and all its effects. */
export const newTraceId = (): string =>
  // Node draws random bits for many UUIDs at once; other random bytes cost a system call each.
  `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${randomUUID().replaceAll('-', '').slice(8)}`;

export const rootOf = (traceHeader: string | undefined): string | undefined =>
  traceHeader === undefined ? undefined : /Root=[0-9a-f-]+/.exec(traceHeader)?.[0];

/** The span of one invocation. */
export const parentOf = (traceHeader: string | undefined): string | undefined =>
  traceHeader === undefined ? undefined : /Parent=([0-9a-f]+)/.exec(traceHeader)?.[1];

/** A run's plan and apply have the same characters in their ids (functions/platform/store/id.ts). */
const runPattern = /(?:run|plan|apply)-([A-Za-z0-9]{16})(?![A-Za-z0-9])/;

/** The first run id in a text. */
export const runIn = (text: string): string | undefined => {
  const found = runPattern.exec(text);
  return found ? `run-${found[1]}` : undefined;
};

const maxTraces = 2_000;
/** Some 5 KB each. */
const maxRuns = 1_000;
const maxUrls = 10_000;
/** A run has about thirty invocations. */
const maxSteps = 500;

/**
 * Counts AWS calls per run. A call belongs to the invocation that makes it (by trace id), and an invocation belongs to
 * the run that appears first in its event or in one of its calls, including earlier calls. A presigned URL belongs to
 * the invocation that created it. In memory only: a restart begins at zero.
 */
export class Usage {
  /** Calls of traces whose run is still unknown. */
  readonly #pending = new Map<string, Calls>();
  readonly #runOfTrace = new Map<string, string>();
  readonly #runOfUrl = new Map<string, string>();
  readonly #runs = new Map<string, Calls>();
  /** The latest traces with their calls. */
  readonly #steps = new Map<string, Step[]>();

  /** Looks for a run in the requests and responses of a trace, unless its run is known. */
  see(trace: string, text: string): void {
    if (this.#runOfTrace.has(trace)) return;
    const run = runIn(text);
    if (run) this.assign(trace, run);
  }

  assign(trace: string, run: string): void {
    if (this.#runOfTrace.has(trace)) return;
    bounded(this.#runOfTrace, maxTraces).set(trace, run);
    const pending = this.#pending.get(trace);
    if (!pending) return;
    this.#pending.delete(trace);
    for (const call of pending.values()) add(this.#callsOf(run), call.service, call.action, call.units, call.count);
  }

  runOf(trace: string | undefined): string | undefined {
    return trace === undefined ? undefined : this.#runOfTrace.get(trace);
  }

  /** @param subject what the call reads or writes, for finding calls to save */
  record(trace: string | undefined, service: string, action: string, units: Units = {}, subject?: string): void {
    if (trace === undefined) return;
    this.#step({ trace, service, action, ...(subject === undefined ? {} : { subject }), units });
    const run = this.#runOfTrace.get(trace);
    if (run) {
      add(this.#callsOf(run), service, action, units);
      return;
    }
    let pending = this.#pending.get(trace);
    if (!pending) {
      pending = new Map();
      bounded(this.#pending, maxTraces).set(trace, pending);
    }
    add(pending, service, action, units);
  }

  recordForRun(run: string | undefined, service: string, action: string, units: Units = {}): void {
    if (run) add(this.#callsOf(run), service, action, units);
  }

  /** Remembers the presigned URLs in an invocation's response. */
  rememberUrls(trace: string, answer: string): void {
    const run = this.#runOfTrace.get(trace);
    if (!run || !answer.includes('X-Amz-Signature=')) return;
    for (const [, signature] of answer.matchAll(/X-Amz-Signature=([0-9a-f]{64})/g))
      bounded(this.#runOfUrl, maxUrls).set(signature!, run);
  }

  runOfUrl(signature: string): string | undefined {
    return this.#runOfUrl.get(signature);
  }

  /** @param transitions state transitions of the run's execution, which the state machine service counts */
  of(run: string, transitions: number): RunUsage {
    const calls = [...(this.#runs.get(run)?.values() ?? [])].sort((a, b) =>
      `${a.service} ${a.action}`.localeCompare(`${b.service} ${b.action}`),
    );
    const totals = billable(calls, transitions);
    return { run, calls, totals, price: priceOf(totals) };
  }

  /** Calls of each invocation of a run, latest invocations only. */
  stepsOf(run: string): Step[] {
    return [...this.#steps].flatMap(([trace, steps]) => (this.#runOfTrace.get(trace) === run ? steps : []));
  }

  #step(step: Step): void {
    const steps = this.#steps.get(step.trace);
    if (steps) steps.push(step);
    else bounded(this.#steps, maxSteps).set(step.trace, [step]);
  }

  #callsOf(run: string): Calls {
    let calls = this.#runs.get(run);
    if (!calls) {
      calls = new Map();
      bounded(this.#runs, maxRuns).set(run, calls);
    }
    return calls;
  }
}

const add = (calls: Calls, service: string, action: string, units: Units, count = 1): void => {
  const id = `${service} ${action}`;
  let call = calls.get(id);
  if (!call) {
    call = { service, action, count: 0, units: {} };
    calls.set(id, call);
  }
  call.count += count;
  for (const [unit, amount] of Object.entries(units)) call.units[unit] = (call.units[unit] ?? 0) + amount;
};

/** Drops the oldest entries, so that a platform that runs for months does not grow. */
const bounded = <V>(map: Map<string, V>, limit: number): Map<string, V> => {
  if (map.size < limit) return map;
  let surplus = limit / 10;
  for (const key of map.keys()) {
    if (surplus-- <= 0) break;
    map.delete(key);
  }
  return map;
};

const s3Reads = new Set(['GetObject', 'HeadObject']);

const billable = (calls: Call[], transitions: number): Billable => {
  const sum = (service: string, unit: string) =>
    calls.reduce((total, call) => total + (call.service === service ? (call.units[unit] ?? 0) : 0), 0);
  const count = (service: string, which: (action: string) => boolean = () => true) =>
    calls.reduce((total, call) => total + (call.service === service && which(call.action) ? call.count : 0), 0);
  return {
    transitions,
    readUnits: sum('dynamodb', 'readUnits'),
    writeUnits: sum('dynamodb', 'writeUnits'),
    lambdaRequests: count('lambda'),
    lambdaGbSeconds: sum('lambda', 'gbSeconds'),
    apiRequests: count('apigateway'),
    s3Puts: count('s3', (action) => !s3Reads.has(action) && action !== 'DeleteObject'),
    s3Gets: count('s3', (action) => s3Reads.has(action)),
    kmsRequests: count('kms'),
    fargateVcpuHours: sum('fargate', 'vcpuHours'),
    fargateGbHours: sum('fargate', 'gbHours'),
  };
};
