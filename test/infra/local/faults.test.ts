import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Permissions } from '#infra/local/aws/iam/iam.ts';
import { keptSecret } from '#infra/local/aws/ssm/secrets.ts';
import { Callers } from '#infra/local/host/callers.ts';
import { type CountedRule, type FaultRule, Faults, readFaults } from '#infra/local/host/faults.ts';
import type { Host } from '#infra/local/host/host.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { callerStatements, startHost, testTemplate } from './support/application.ts';
import { temporaryFolder } from './support/functions.ts';

describe('a fault rule', () => {
  const call = { service: 'dynamodb', action: 'GetItem', function: 'F' };
  const turns = (rule: Omit<FaultRule, 'kind'>, calls = Array.from({ length: 12 }, () => call)) => {
    const faults = new Faults([{ kind: 'refuse', ...rule }]);
    return calls.flatMap((one, n) => (faults.ofCall(one) ? [n + 1] : []));
  };

  it.each<[Omit<FaultRule, 'kind'>, number[]]>([
    [{ nth: 3 }, [3]],
    [{ nth: 3, times: 2 }, [3, 4]],
    [{ every: 4 }, [4, 8, 12]],
    [{ every: 4, times: 2 }, [4, 8]],
    [{ probability: 0 }, []],
    [{ probability: 1, times: 3 }, [1, 2, 3]],
  ])('%j applies at %j', (rule, expected) => expect(turns(rule)).toEqual(expected));

  it('limits calls as a quota does, until some time has passed', async () => {
    const faults = new Faults([{ kind: 'limit', perSecond: 20 }]);
    expect(faults.ofCall(call)).toBeUndefined();
    for (let n = 0; n < 30; n++) faults.spent(call, {});
    expect(faults.ofCall(call)).toMatchObject({ kind: 'limit' });
    await vi.waitFor(() => expect(faults.ofCall(call)).toBeUndefined());
  });

  it('limits units in each partition by itself', () => {
    const faults = new Faults([{ kind: 'limit', units: 'writeUnits', perSecond: 1 }]);
    faults.spent({ ...call, partition: 'A' }, { writeUnits: 100 });
    faults.spent({ ...call, partition: 'B' }, { readUnits: 100 });
    expect(['A', 'B'].map((partition) => !!faults.ofCall({ ...call, partition }))).toEqual([true, false]);
  });

  it('selects calls reproducibly by seed', () => {
    const calls = Array.from({ length: 1000 }, () => call);
    const chosen = turns({ probability: 0.1, seed: 7 }, calls);
    expect(chosen.length).toBeGreaterThan(60);
    expect(chosen.length).toBeLessThan(140);
    expect(turns({ probability: 0.1, seed: 7 }, calls)).toEqual(chosen);
    expect(turns({ probability: 0.1, seed: 8 }, calls)).not.toEqual(chosen);
  });

  it('counts only matching calls', () => {
    const calls = [
      call,
      { ...call, service: 's3' },
      { ...call, action: 'PutItem' },
      { ...call, function: 'G' },
      { ...call, function: 'operator' },
    ];
    expect(turns({ every: 1, service: 's3' }, calls)).toEqual([2]);
    expect(turns({ every: 1, action: 'PutItem' }, calls)).toEqual([3]);
    expect(turns({ every: 1, function: 'G' }, calls)).toEqual([4]);
    expect(turns({ every: 1 }, calls)).toEqual([1, 2, 3, 4]);
    expect(turns({ every: 1, function: 'operator' }, calls)).toEqual([5]);
  });

  it('for a call does not apply to an event', () => {
    const faults = new Faults([
      { kind: 'lose', every: 1 },
      { kind: 'kill', every: 1 },
    ]);
    expect(faults.ofCall(call)?.kind).toBe('kill');
    expect(faults.ofEvent({ source: 'aws.s3', 'detail-type': 'Object Created' })?.kind).toBe('lose');
    expect(faults.list().map(({ seen, injected }) => [seen, injected])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  it.each([
    ['{', 'JSON array'],
    ['{}', 'rules'],
    ['[{"kind":"refuse"}]', '0: a rule needs one of nth, every, probability, perSecond and concurrent'],
    ['[{"kind":"refuse","nth":1,"every":2}]', 'needs one of'],
    ['[{"kind":"refuse","nth":0}]', '0.nth'],
    ['[{"kind":"refuse","nth":1,"Action":"GetItem"}]', '0.Action'],
    ['[{"kind":"explode","nth":1}]', '0.kind'],
  ])('%s is rejected: %s', (json, why) => expect(() => readFaults(json)).toThrow(why));
});

describe.each(['http', 'memory'])('the AWS endpoint, through the door %s', (door) => {
  let host: Host;
  beforeAll(async () => {
    const statements = callerStatements.concat({ Effect: 'Allow', Action: 's3:ListBucket', Resource: '*' });
    host = await startHost(temporaryFolder(), testTemplate(statements));
  });
  afterAll(() => host.close());
  afterEach(() => set([]));

  const faults = (method: string, body?: string) => operatorFetch(host.local, '/_faults', { method, body });
  const set = async (rules: FaultRule[]) => {
    expect((await faults('PUT', JSON.stringify(rules))).status).toBe(200);
  };
  const injected = async () => ((await (await faults('GET')).json()) as CountedRule[]).map((rule) => rule.injected);
  const invoke = async (...orders: [does: string, input: unknown][]) => {
    const event = { door, orders: orders.map(([does, input]) => ({ does, input })) };
    const { payload, failure } = await host.lambda.invoke('CallerFunction', JSON.stringify(event));
    return { failure, answers: JSON.parse(payload) as Record<string, unknown>[] };
  };
  const put = (sk: string): [string, unknown] => [
    'PutItem',
    {
      TableName: host.local.tableName,
      Item: { pk: { S: 'f' }, sk: { S: sk } },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  ];
  const isThere = async (sk: string) => {
    const client = new DynamoDBClient({
      endpoint: host.local.awsEndpointUrl,
      region: 'us-east-1',
      credentials: host.local.awsCredentials,
      maxAttempts: 1,
    });
    const Key = { pk: { S: 'f' }, sk: { S: sk } };
    return !!(await client.send(new GetItemCommand({ TableName: host.local.tableName, Key }))).Item;
  };
  it.each([
    [undefined, 'ProvisionedThroughputExceededException'],
    ['InternalServerError', 'InternalServerError'],
  ])("fails like the service until the client's retries (%s)", async (error, name) => {
    const sk = `refused ${error}`;
    await set([{ kind: 'refuse', service: 'dynamodb', action: 'PutItem', nth: 1, times: 10, error }]);
    const { answers } = await invoke(put(sk));
    expect(answers[0]).toMatchObject({ error: name });
    expect((await injected())[0]).toBeGreaterThan(1);
    expect(await isThere(sk)).toBe(false);
  });

  it('makes S3 answer SlowDown once, and the client retries', async () => {
    await set([{ kind: 'refuse', service: 's3', action: 'PutObject', nth: 1 }]);
    const { answers } = await invoke(['putObject', 'states/slow'], ['getObject', 'states/slow']);
    expect(answers[1]).toBe('content of states/slow');
    expect(await injected()).toEqual([1]);
  });

  it('makes S3 answer 409 once, and the client retries', async () => {
    await set([{ kind: 'refuse', service: 's3', action: 'PutObject', error: 'ConditionalRequestConflict', nth: 1 }]);
    const { answers } = await invoke(['putObject', 'states/conflict'], ['getObject', 'states/conflict']);
    expect(answers[1]).toBe('content of states/conflict');
    expect(await injected()).toEqual([1]);
  });

  it('makes DynamoDB leave half of the keys of a batch unprocessed', async () => {
    await invoke(put('batch 1'), put('batch 2'), put('batch 3'));
    await set([{ kind: 'unprocessed', every: 1, times: 1 }]);
    const Keys = [1, 2, 3].map((n) => ({ pk: { S: 'f' }, sk: { S: `batch ${n}` } }));
    const { tableName } = host.local;
    const { answers } = await invoke(['BatchGetItem', { RequestItems: { [tableName]: { Keys } } }]);
    expect(answers[0]).toEqual({
      Responses: { [tableName]: Keys.slice(0, 2) },
      UnprocessedKeys: { [tableName]: { Keys: Keys.slice(2), ConsistentRead: true } },
    });
  });

  it("refuses invocations beyond the account's concurrency", async () => {
    await set([
      { kind: 'limit', service: 'lambda', concurrent: 1 },
      { kind: 'slow', action: 'PutItem', nth: 1, ms: 200 },
    ]);
    const ends = await Promise.allSettled([invoke(put('one')), invoke(put('another'))]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(ends[1]).toMatchObject({ reason: { name: 'TooManyRequestsException', statusCode: 429 } });
    expect((await injected())[0]).toBe(1);
    await invoke(put('later'));
    expect(await isThere('later')).toBe(true);
  });

  it('makes ECS report no capacity', async () => {
    await set([{ kind: 'refuse', action: 'RunTask', nth: 1 }]);
    const ecs = 'arn:aws:ecs:us-east-1:000000000000';
    const task = { cluster: `${ecs}:cluster/Cluster`, taskDefinition: `${ecs}:task-definition/stepform-runner:1` };
    const { answers } = await invoke(['RunTask', task]);
    expect(answers[0]).toMatchObject({
      tasks: [],
      failures: [{ reason: expect.stringContaining('Capacity is unavailable') }],
    });
  });

  it("drops a response, so that the client's retry meets its own write", async () => {
    await set([{ kind: 'lose-answer', action: 'PutItem', nth: 1 }]);
    const { answers } = await invoke(put('unheard'));
    expect(answers[0]).toMatchObject({ error: 'ConditionalCheckFailedException' });
    expect(await isThere('unheard')).toBe(true);
  });

  it('drops a response of S3 after the object was written', async () => {
    await set([{ kind: 'lose-answer', service: 's3', nth: 1 }]);
    const { answers } = await invoke(['putObject', 'states/unheard'], ['getObject', 'states/unheard']);
    expect(answers[1]).toBe('content of states/unheard');
    expect(await injected()).toEqual([1]);
  });

  it('delays a response', async () => {
    await set([{ kind: 'slow', action: 'PutItem', nth: 1, ms: 50 }]);
    const { answers } = await invoke(put('slow'));
    expect(answers[0]).not.toHaveProperty('error');
    expect(await injected()).toEqual([1]);
  });

  it.each([
    ['kill', false],
    ['kill-after', true],
  ] as const)('kills a function at its second call (%s)', async (kind, done) => {
    await set([{ kind, function: 'CallerFunction', action: 'PutItem', nth: 2 }]);
    const { failure } = await invoke(put(`${kind} 1`), put(`${kind} 2`), put(`${kind} 3`));
    expect(failure).toMatchObject({ errorType: 'Runtime.ExitError', errorMessage: expect.stringContaining('killed') });
    // The killed process makes none of its later calls; the next invocation gets another process.
    await invoke(put(`${kind} 4`));
    expect(await Promise.all([1, 2, 3, 4].map((n) => isThere(`${kind} ${n}`)))).toEqual([true, done, false, true]);
  });

  it('rejects an invalid rule with a reason and keeps the current ones', async () => {
    const rule = { kind: 'slow', action: 'none', every: 1 } as const;
    await set([rule]);
    const refused = await faults('PUT', '[{"kind":"refuse"}]');
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { __type: 'ValidationException', message: expect.stringContaining('needs one of') },
    ]);
    expect(await (await faults('GET')).json()).toEqual([{ ...rule, seen: 0, injected: 0 }]);
  });

  it('rejects rules that the operator did not sign', async () => {
    const functions = new Callers(keptSecret(host.folder.at('credentials.key')), [], {} as Permissions);
    const credentials = [
      functions.credentialsOf('CallerFunction'),
      { ...host.local.awsCredentials, secretAccessKey: 'x' },
      { accessKeyId: 'operator', secretAccessKey: 'operator' },
    ];
    const signed = credentials.map((awsCredentials) =>
      operatorFetch({ ...host.local, awsCredentials }, '/_faults', { method: 'PUT', body: '[]' }),
    );
    const unsigned = fetch(`${host.local.awsEndpointUrl}/_faults`, { method: 'PUT', body: '[]' });
    for (const answer of await Promise.all([...signed, unsigned])) expect(answer.status).toBe(403);
  });
});
