import type { FaultRule } from '#infra/local/host/faults.ts';
import type { Chance } from './seeded-random.ts';

/** Faults of the next seconds: a few rules for the local AWS endpoint; none blocks work for long. */
export const weather = (chance: Chance): FaultRule[] =>
  Array.from({ length: 2 + chance.integer(3) }, () => (chance.one(recipes) as Recipe)(chance));

type Recipe = (chance: Chance) => FaultRule;

const seeded = (chance: Chance, probability: number) => ({ probability, seed: chance.integer(1e6) });

const recipes: Recipe[] = [
  (c) => ({ kind: 'refuse', service: 'dynamodb', ...seeded(c, 0.05) }),
  // Once and twice; then more often than a client's own retries.
  (c) => ({ kind: 'refuse', service: 'dynamodb', nth: 1 + c.integer(60), times: 1 + c.integer(2) }),
  (c) => ({ kind: 'refuse', service: 'dynamodb', nth: 1 + c.integer(60), times: 6 }),
  (c) => ({ kind: 'refuse', service: 'dynamodb', error: 'ThrottlingException', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'refuse', service: 'dynamodb', error: 'InternalServerError', ...seeded(c, 0.05) }),
  (c) => ({ kind: 'refuse', service: 's3', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'refuse', service: 's3', error: 'InternalError', nth: 1 + c.integer(10), times: 6 }),
  (c) => ({
    kind: 'refuse',
    service: 's3',
    action: 'PutObject',
    error: 'ConditionalRequestConflict',
    ...seeded(c, 0.2),
  }),
  (c) => ({ kind: 'unprocessed', ...seeded(c, 0.5) }),
  (c) => ({ kind: 'limit', service: 'lambda', concurrent: 2 + c.integer(9) }),
  (c) => ({ kind: 'refuse', service: 'states', ...seeded(c, 0.1) }),
  (c) => ({ kind: 'refuse', service: 'states', nth: 1 + c.integer(10), times: 4 }),
  (c) => ({ kind: 'refuse', service: 'kms', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'refuse', action: 'RunTask', nth: 1, times: 1 + c.integer(2) }),
  (c) => ({ kind: 'refuse', service: 'ecs', error: 'ThrottlingException', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'lose-answer', service: 'dynamodb', ...seeded(c, 0.05) }),
  (c) => ({ kind: 'lose-answer', service: 's3', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'lose-answer', service: 'states', ...seeded(c, 0.2) }),
  (c) => ({ kind: 'lose-answer', service: 'ecs', ...seeded(c, 0.3) }),
  (c) => ({ kind: 'slow', ms: Math.round(c.between(20, 3000)), ...seeded(c, 0.05) }),
  // Longer than the shortest timeout of a function.
  (c) => ({ kind: 'slow', service: 'dynamodb', ms: Math.round(c.between(8000, 16_000)), ...seeded(c, 0.01) }),
  (c) => ({ kind: 'kill', ...seeded(c, 0.02) }),
  (c) => ({ kind: 'kill-after', ...seeded(c, 0.02) }),
  (c) => ({ kind: 'kill-after', service: 'dynamodb', nth: 1 + c.integer(40) }),
  (c) => ({ kind: 'kill-after', service: 'states', nth: 1 + c.integer(5) }),
  (c) => ({ kind: 'duplicate', ...seeded(c, 0.5) }),
  (c) => ({ kind: 'late', ms: Math.round(c.between(100, 10_000)), ...seeded(c, 0.5) }),
  (c) => ({ kind: 'lose', ...seeded(c, 0.5) }),
];
