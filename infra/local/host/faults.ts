import * as v from 'valibot';
import type { Units } from '#infra/local/aws/lambda/usage.ts';
import { AwsError } from './errors.ts';

/** What may go wrong with an AWS call, and with an event. */
const callKinds = ['refuse', 'limit', 'slow', 'lose-answer', 'kill', 'kill-after'] as const;
const eventKinds = ['duplicate', 'late', 'lose'] as const;

const counting = v.pipe(v.number(), v.integer(), v.minValue(1));
const schema = v.pipe(
  v.strictObject({
    /**
     * `refuse`: the service's own error, nothing done. `limit`: the same while there were more than `perSecond` of late, as
     * with quotas. `slow`: done `ms` later. `lose-answer`: done, and the connection
     * ends without an answer. `kill`, `kill-after`: the function dies before, or after, the call has taken effect.
     * `duplicate`, `late` (by `ms`), `lose`: of an event.
     */
    kind: v.picklist([...callKinds, ...eventKinds]),
    /** `dynamodb`, `s3`, `kms`, `ecs`, `states`, `lambda-api`; of an event its source, e.g. `aws.s3`. Any unless given. */
    service: v.optional(v.string()),
    /** E.g. `UpdateItem`; of an event its detail-type, e.g. `Object Created`. Any unless given. */
    action: v.optional(v.string()),
    /** Name of the function that calls. Any unless given; the operator's own calls only when this is `operator`. */
    function: v.optional(v.string()),
    /** The first call, of those that match, that fails: 1 is the next one. */
    nth: v.optional(counting),
    /** Every so many of those that match. */
    every: v.optional(counting),
    /** Of each that matches, chosen by `seed`. */
    probability: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
    seed: v.optional(v.pipe(v.number(), v.integer())),
    /** Of `limit`: so many calls, or units of a table; as much again may be saved up. */
    perSecond: v.optional(v.pipe(v.number(), v.minValue(0.001))),
    /** What is counted in place of calls: in each partition of the table by itself. */
    units: v.optional(v.picklist(['readUnits', 'writeUnits'])),
    /** How many fail at most: in a row after `nth` (1 unless given), else without bound. */
    times: v.optional(counting),
    /** How much slower or later; 1000 unless given. */
    ms: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(900_000))),
    /** Code of the error, for `refuse`; the one the service is most likely to give unless given. */
    error: v.optional(v.string()),
  }),
  v.check(
    ({ nth, every, probability, perSecond }) =>
      [nth, every, probability, perSecond].filter((one) => one !== undefined).length === 1,
    'a rule needs one of nth, every, probability and perSecond',
  ),
  v.check(
    ({ kind, perSecond, units }) => (kind === 'limit') === (perSecond !== undefined) && (!units || kind === 'limit'),
    'limit goes with perSecond, and units with limit',
  ),
);

export type FaultRule = v.InferOutput<typeof schema>;

/** A rule with how many matched and how many of those failed. */
export type CountedRule = FaultRule & { seen: number; injected: number };

/** @throws AwsError ValidationException that says which rule is wrong, and how */
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
  /** Of the table. */
  partition?: string;
}

interface Rule {
  rule: FaultRule;
  counts: { seen: number; injected: number };
  random: () => number;
  limit?: Limit;
}

/**
 * Faults by rule, so that what may happen on AWS happens here on purpose: errors of a service, answers that get lost,
 * functions that die, events that come twice, late or never. The first rule whose turn it is counts.
 */
export class Faults {
  #rules: Rule[] = [];

  constructor(rules: FaultRule[] = []) {
    this.set(rules);
  }

  /** In place of all rules so far; every count begins anew. */
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

  /** A call was made, and took so many units of the table. */
  spent(call: Matched, units: Units): void {
    for (const { rule, limit } of this.#rules) {
      if (!limit || !matches(rule, call)) continue;
      if (rule.units) limit.spend(units[rule.units] ?? 0, call.partition);
      else limit.spend(1);
    }
  }

  ofEvent(event: { source: string; 'detail-type': string }): FaultRule | undefined {
    return this.#next(eventKinds, { service: event.source, action: event['detail-type'] });
  }

  #next(kinds: readonly FaultRule['kind'][], what: Matched): FaultRule | undefined {
    let chosen: FaultRule | undefined;
    for (const { rule, counts, random, limit } of this.#rules) {
      if (!kinds.includes(rule.kind) || !matches(rule, what)) continue;
      counts.seen++;
      const fails = limit ? limit.isReached(rule.units && what.partition) : isTurn(rule, counts, random);
      if (!fails || chosen) continue;
      counts.injected++;
      chosen = rule;
    }
    return chosen;
  }
}

/** Buckets that fill by the second, as AWS's limits do: what is in one may be spent at once. */
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
  (rule.service === undefined || rule.service === service) &&
  (rule.action === undefined || rule.action === action) &&
  (rule.function === undefined ? caller !== 'operator' : rule.function === caller);

const isTurn = (rule: FaultRule, { seen, injected }: { seen: number; injected: number }, random: () => number) => {
  const { nth, every, probability = 0, times = nth === undefined ? Number.POSITIVE_INFINITY : 1 } = rule;
  // Drawn for each that matches, so that a bound does not shift what comes after it.
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

/** What each service says most often when it cannot serve just now (its API's common errors). */
const usualErrors: Record<string, string> = {
  dynamodb: 'ProvisionedThroughputExceededException',
  s3: 'SlowDown',
  'lambda-api': 'TooManyRequestsException',
};

/** Codes that come with another status than 400. */
const statuses: Record<string, number> = {
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

/** Fargate: without room, RunTask is answered with failures and no tasks (ECS: API failure reasons). */
const noCapacity = {
  tasks: [],
  failures: [
    { reason: 'Capacity is unavailable at this time. Please try again later or in a different availability zone' },
  ],
};

/**
 * How a service refuses, before anything is done: an error, or RunTask's answer when there is no capacity.
 * @throws AwsError
 */
export const refuse = (service: string, action: string, { error }: FaultRule): object => {
  if (action === 'RunTask' && error === undefined) return noCapacity;
  const code = error ?? usualErrors[service] ?? 'ThrottlingException';
  throw new AwsError(code, `Refused by a fault rule (${service} ${action}).`, statuses[code] ?? 400);
};
