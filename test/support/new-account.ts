import type { FaultRule } from '#infra/local/host/faults.ts';

/** A new account on AWS: its quotas, and what its services do on the first day as well as under load. */
export const newAccount: FaultRule[] = [
  // Lambda: quotas of new accounts.
  { kind: 'limit', service: 'lambda', concurrent: 10 },
  // The first RunTask creates ECS's service-linked role, and fails until it exists (ECS: service-linked roles).
  { kind: 'refuse', action: 'RunTask', error: 'InvalidParameterException', nth: 1 },
  // Concurrent conditional writes (S3: conditional writes).
  {
    kind: 'refuse',
    service: 's3',
    action: 'PutObject',
    error: 'ConditionalRequestConflict',
    probability: 0.2,
    seed: 1,
  },
  // A partition is throttled (DynamoDB: BatchGetItem).
  { kind: 'unprocessed', service: 'dynamodb', every: 2 },
  // API Gateway's limit of 30 s (HTTP APIs: quotas): a runner's call gets 503.
  { kind: 'slow', service: 'dynamodb', function: 'RunnerFunction', nth: 12, ms: 31_000 },
  // Delivery at least once, in any order (EventBridge).
  { kind: 'duplicate', every: 2 },
  { kind: 'late', every: 1, ms: 3_000 },
];
