import * as v from 'valibot';
import type { Units } from '#infra/local/aws/lambda/usage.ts';
import { AwsError } from './errors.ts';

/** Kinds of faults of an AWS call, and of an event. */
const callKinds = ['refuse', 'limit', 'unprocessed', 'slow', 'lose-answer', 'kill', 'kill-after'] as const;
const eventKinds = ['duplicate', 'late', 'lose'] as const;

const counting = v.pipe(v.number(), v.integer(), v.minValue(1));
const schema = v.pipe(
  v.strictObject({
    /**
     * `refuse`: the service's own error, without effect. `limit`: the same above `perSecond`, like a quota. `slow`:
     * takes effect `ms` later. `unprocessed`: BatchGetItem returns half of the items and leaves the others out, as when a
     * partition is throttled. `lose-answer`: takes effect, and the connection closes without a response. `kill`,
     * `kill-after`: the function dies before, or after, the call has taken effect. For events: `duplicate`, `late` (by
     * `ms`), `lose`.
     */
    kind: v.picklist([...callKinds, ...eventKinds]),
    /** `dynamodb`, `s3`, `kms`, `ecs`, `states`, `lambda-api`; for an event its source, e.g. `aws.s3`. Default: any. */
    service: v.optional(v.string()),
    /** E.g. `UpdateItem`; for an event its detail-type, e.g. `Object Created`. Default: any. */
    action: v.optional(v.string()),
    /** Name of the calling function. Default: any; calls of the operator match only `operator`. */
    function: v.optional(v.string()),
    /** The first matching call that fails: 1 is the next one. */
    nth: v.optional(counting),
    /** Every n-th matching call fails. */
    every: v.optional(counting),
    /** Probability for each matching call, drawn with `seed`. */
    probability: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    seed: v.optional(v.pipe(v.number(), v.integer())),
    /** Rate of `limit`: calls, or units of a table; the burst is one second's worth. */
    perSecond: v.optional(v.pipe(v.number(), v.minValue(0.001))),
    /** Number of invocations of functions at a time, with `limit`: a new account has 10. */
    concurrent: v.optional(counting),
    /** Counts read or write units in place of calls, per partition of the table. */
    units: v.optional(v.picklist(['readUnits', 'writeUnits'])),
    /** Maximum of failures: in a row after `nth` (default 1), otherwise unlimited. */
    times: v.optional(counting),
    /** Delay of `slow` and `late`; default 1000. */
    ms: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(900_000))),
    /** Error code of `refuse`; default: the service's most likely error. */
    error: v.optional(v.string()),
  }),
  v.check(
    ({ nth, every, probability, perSecond, concurrent }) =>
      [nth, every, probability, perSecond, concurrent].filter((one) => one !== undefined).length === 1,
    'a rule needs one of nth, every, probability, perSecond and concurrent',
  ),
  v.check(
    ({ kind, perSecond, concurrent, units }) =>
      (kind === 'limit') === (perSecond !== undefined || concurrent !== undefined) && (!units || kind === 'limit'),
    'kind limit requires perSecond or concurrent; these and units are for kind limit only',
  ),
);

export type FaultRule = v.InferOutput<typeof schema>;

/** A rule with the number of its matches and faults. */
export type CountedRule = FaultRule & { seen: number; injected: number };

/** @throws AwsError ValidationException that names the invalid rule and the problem */
export const readFaults = (json: string): FaultRule[] => {
  let given: unknown;
  try {
    given = JSON.parse(json);
  } catch {
    throw new AwsError('ValidationException', 'Faults are a JSON array of rules.');
  }
  const result = v.safeParse(v.array(schema), given);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new AwsError('ValidationException', `Fault ${v.getDotPath(issue) ?? 'rules'}: ${issue.message}`);
};

interface Matched {
  service: string;
  action: string;
  function?: string;
  /** Partition of the table. */
  partition?: string;
}

interface Rule {
  rule: FaultRule;
  counts: { seen: number; injected: number };
  random: () => number;
  limit?: Limit;
}

/**
 * Fault injection by rule, to test failures that AWS can have: errors of a service, lost responses, killed functions,
 * duplicate, late or lost events. The first rule that is due applies.
 */
export class Faults {
  #rules: Rule[] = [];

  constructor(rules: FaultRule[] = []) {
    this.set(rules);
  }

  /** Replaces all rules; every count restarts. */
  set(rules: FaultRule[]): void {
    this.#rules = rules.map((rule) => ({
      rule,
      counts: { seen: 0, injected: 0 },
      random: randomFrom(rule.seed ?? 1),
      ...(rule.perSecond === undefined ? {} : { limit: new Limit(rule.perSecond) }),
    }));
  }

  list(): CountedRule[] {
    return this.#rules.map(({ rule, counts }) => ({ ...rule, ...counts }));
  }

  ofCall(call: Matched & { function: string }): FaultRule | undefined {
    return this.#next(callKinds, call);
  }

  /** Records a call and the units of the table that it used. */
  spent(call: Matched, units: Units): void {
    for (const { rule, limit } of this.#rules) {
      if (!limit || !matches(rule, call)) continue;
      if (rule.units) limit.spend(units[rule.units] ?? 0, call.partition);
      else limit.spend(1);
    }
  }

  /** Whether one more invocation exceeds a limit. @param active running invocations */
  refusesInvocation(active: number): boolean {
    const limits = this.#rules.filter(({ rule }) => rule.concurrent !== undefined);
    for (const { rule, counts } of limits) {
      counts.seen++;
      if (active < (rule.concurrent as number)) continue;
      counts.injected++;
      return true;
    }
    return false;
  }

  ofEvent(event: { source: string; 'detail-type': string }): FaultRule | undefined {
    return this.#next(eventKinds, { service: event.source, action: event['detail-type'] });
  }

  #next(kinds: readonly FaultRule['kind'][], what: Matched): FaultRule | undefined {
    let chosen: FaultRule | undefined;
    for (const { rule, counts, random, limit } of this.#rules) {
      if (!kinds.includes(rule.kind) || rule.concurrent !== undefined || !matches(rule, what)) continue;
      counts.seen++;
      const fails = limit ? limit.isReached(rule.units && what.partition) : isTurn(rule, counts, random);
      if (!fails || chosen) continue;
      counts.injected++;
      chosen = rule;
    }
    return chosen;
  }
}

/** Token buckets that fill per second, like AWS's limits: saved tokens may be spent at once. */
class Limit {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  #bucket(name: string) {
    const now = performance.now();
    const { left, at } = this.#buckets.get(name) ?? { left: this.#perSecond, at: now };
    const bucket = { left: Math.min(this.#perSecond, left + ((now - at) / 1000) * this.#perSecond), at: now };
    this.#buckets.set(name, bucket);
    return bucket;
  }

  isReached(name = ''): boolean {
    return this.#bucket(name).left <= 0;
  }

  spend(amount: number, name = ''): void {
    this.#bucket(name).left -= amount;
  }
}

const matches = (rule: FaultRule, { service, action, function: caller }: Matched): boolean =>
  (rule.kind !== 'unprocessed' || action === 'BatchGetItem') &&
  (rule.service === undefined || rule.service === service) &&
  (rule.action === undefined || rule.action === action) &&
  (rule.function === undefined ? caller !== 'operator' : rule.function === caller);

const isTurn = (rule: FaultRule, { seen, injected }: { seen: number; injected: number }, random: () => number) => {
  const { nth, every, probability = 0, times = nth === undefined ? Number.POSITIVE_INFINITY : 1 } = rule;
  // Drawn for every match, so that a maximum does not shift later draws.
  const drawn = nth === undefined && every === undefined && random() < probability;
  if (injected >= times) return false;
  if (nth !== undefined) return seen >= nth;
  return every === undefined ? drawn : seen % every === 0;
};

/** Mulberry32: the same numbers for the same seed. */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
};

/** The most frequent temporary error of each service (its API's common errors). */
const usualErrors: Record<string, string> = {
  dynamodb: 'ProvisionedThroughputExceededException',
  s3: 'SlowDown',
  'lambda-api': 'TooManyRequestsException',
};

/** Codes with another status than 400. */
const statuses: Record<string, number> = {
  ConditionalRequestConflict: 409,
  SlowDown: 503,
  ServiceUnavailable: 503,
  InternalServerError: 500,
  InternalError: 500,
  InternalFailure: 500,
  KMSInternalException: 500,
  ServerException: 500,
  ServiceException: 500,
  TooManyRequestsException: 429,
};

/** Fargate without capacity: RunTask returns failures and no tasks (ECS: API failure reasons). */
const noCapacity = {
  tasks: [],
  failures: [
    { reason: 'Capacity is unavailable at this time. Please try again later or in a different availability zone' },
  ],
};

/**
 * A service's refusal before any effect: an error, or RunTask's output without capacity.
 * @throws AwsError
 */
export const refuse = (service: string, action: string, { error }: FaultRule): object => {
  if (action === 'RunTask' && error === undefined) return noCapacity;
  const code = error ?? usualErrors[service] ?? 'ThrottlingException';
  throw new AwsError(code, `Refused by a fault rule (${service} ${action}).`, statuses[code] ?? 400);
};

type Attributes = Record<string, unknown>;

/** The output of BatchGetItem without the second half of each table's items. */
export const leaveUnprocessed = (output: object): object => {
  const { Responses } = output as { Responses: Record<string, Attributes[]> };
  const tables = Object.entries(Responses).map(([name, items]) => {
    const processed = Math.ceil(items.length / 2);
    const keys = items.slice(processed).map(({ pk, sk }) => ({ pk, sk }));
    return { name, items: items.slice(0, processed), keys };
  });
  return {
    Responses: Object.fromEntries(tables.map(({ name, items }) => [name, items])),
    UnprocessedKeys: Object.fromEntries(
      tables.filter(({ keys }) => keys.length).map(({ name, keys }) => [name, { Keys: keys, ConsistentRead: true }]),
    ),
  };
};
