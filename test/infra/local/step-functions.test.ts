import { describe, expect, test } from 'vitest';
import { Bench, executionArn, machine, machineArn, task, waiting } from './step-functions.support.ts';

describe('an execution', () => {
  const lifecycle = machine({
    Plan: waiting('Plan', { ResultPath: '$.plan', Next: 'Planned' }),
    Planned: {
      Type: 'Choice',
      Choices: [{ Variable: '$.plan.next', StringEquals: 'Finished', Next: 'Finished' }],
      Default: 'Apply',
    },
    Apply: task('Apply', { ResultPath: '$.apply', Next: 'Finished' }),
    Finished: { Type: 'Succeed' },
  });

  test('handles tokens, choices and results like AWS', async () => {
    const bench = new Bench(lifecycle, ({ stateName }) => (stateName === 'Apply' ? { resources: 3 } : 'ignored'));
    await bench.start('run-1', { runId: 'run-1' });

    await bench.succeed(await bench.token(), { next: 'Apply' });
    const { status, output, error } = await bench.ended();

    expect(status).toBe('SUCCEEDED');
    expect(error).toBeUndefined();
    expect(JSON.parse(output)).toEqual({
      runId: 'run-1',
      plan: { next: 'Apply' },
      apply: { answer: { resources: 3 } },
    });
    expect(bench.calls.map(({ functionArn, stateName }) => [functionArn.split(':').at(-1), stateName])).toEqual([
      ['Plan', 'Plan'],
      ['Apply', 'Apply'],
    ]);
    expect(bench.calls[1]!.payload.input).toEqual({ runId: 'run-1', plan: { next: 'Apply' } });
    expect(bench.service.transitions('run-1')).toBe(4);
    expect(bench.clock.armed).toBe(0);
  });

  test('wraps the result of a function', async () => {
    const bench = new Bench(machine({ Call: task('Call', { ResultSelector: undefined, End: true }) }), () => undefined);
    await bench.start();
    await bench.ended();
    expect(await bench.output()).toEqual({ ExecutedVersion: '$LATEST', Payload: null, StatusCode: 200 });
  });

  test('passes functions a copy of their input', async () => {
    const bench = new Bench(machine({ Call: task('Call', { ResultPath: null, End: true }) }), ({ payload }) => {
      (payload.input as { list: number[] }).list.push(4);
    });
    await bench.start('run-1', { list: [1, 2, 3] });
    await bench.ended();
    expect(await bench.output()).toEqual({ list: [1, 2, 3] });
  });

  test('fills the context object', async () => {
    const bench = new Bench(
      machine({
        First: { Type: 'Pass', Parameters: { 'before.$': '$$.State.Name' }, ResultPath: '$.first', Next: 'Call' },
        Call: {
          ...task('Call', {
            ResultSelector: { 'id.$': '$$.Execution.Id', words: '$$.x' },
            End: true,
          }),
          Parameters: { FunctionName: 'Call', Payload: { 'all.$': '$$' } },
        },
      }),
    );
    await bench.start('run-1', { runId: 'run-1' });
    await bench.ended();
    expect(bench.calls[0]!.payload.all).toEqual({
      Execution: {
        Id: executionArn('run-1'),
        Input: { runId: 'run-1' },
        Name: 'run-1',
        RoleArn: 'arn:aws:iam::000000000000:role/StepFunctions',
        StartTime: '2030-01-01T00:00:00.000Z',
        RedriveCount: 0,
      },
      StateMachine: { Id: machineArn, Name: 'Runs' },
      State: { Name: 'Call', EnteredTime: '2030-01-01T00:00:00.000Z', RetryCount: 0 },
    });
    expect(await bench.output()).toEqual({ id: executionArn('run-1'), words: '$$.x' });
  });

  test.each([
    ['deep inside', '$.a.b', { n: 7, a: { b: { is: 7 } } }],
    ['in place of the input', '$', { is: 7 }],
  ])('a Pass sets a value %s', async (_, ResultPath, expected) => {
    const bench = new Bench(machine({ State: { Type: 'Pass', Parameters: { 'is.$': '$.n' }, ResultPath, End: true } }));
    await bench.start('run-1', { n: 7 });
    await bench.ended();
    expect(await bench.output()).toEqual(expected);
  });

  test('accepts any state name', async () => {
    const bench = new Bench(
      machine({
        Result: { Type: 'Pass', Parameters: { 'id.$': '$$.Execution.Name' }, Next: 'Parameters' },
        Parameters: task('Call', { ResultPath: '$.Result', Next: 'InputPath' }),
        InputPath: { Type: 'Choice', Choices: [{ Variable: '$$.State.Name', StringEquals: 'InputPath', Next: 'End' }] },
        End: { Type: 'Succeed' },
      }),
    );
    await bench.start();
    expect((await bench.ended()).status).toBe('SUCCEEDED');
    expect(await bench.output()).toEqual({ id: 'run-1', Result: { answer: null } });
  });

  test('rejects a definition that it cannot run', () => {
    const bench = new Bench(lifecycle);
    const create = (definition: object) => () => bench.service.createStateMachine(machineArn, definition);
    expect(create(machine({ A: { Type: 'Pass', Next: 'B' } }))).toThrow('State A leads to B, which is no state');
    expect(create(machine({ A: { ...task('A'), Resource: 'arn:aws:states:::sqs:sendMessage' } }))).toThrow(
      'sqs:sendMessage',
    );
    expect(create(machine({ A: { Type: 'Pass', End: true } }, { QueryLanguage: 'JSONata' }))).toThrow('JSONata');
    expect(create(machine({ A: { Type: 'Activity', End: true } }))).toThrow('State A: Type Activity is not supported');
    expect(create(machine({ A: { Type: 'Pass', InputPath: '$.a', End: true } }))).toThrow('InputPath of a Pass is not');
    const distributed = { ...machine({ B: task('B') }), ProcessorConfig: { Mode: 'DISTRIBUTED' } };
    expect(create(machine({ A: { Type: 'Map', ItemProcessor: distributed } }))).toThrow('mode DISTRIBUTED');
    const parameters = { Parameters: { 'x.$': "States.Format('{}', $.a)" } };
    expect(create(machine({ A: { Type: 'Pass', ...parameters, End: true } }))).toThrow('State A: States.Format');
    expect(create(machine({ A: { ...task('A'), ResultPath: '$.a[0]' } }))).toThrow('State A: $.a[0] is not a field');
  });
});

describe('task tokens', () => {
  const once = machine({ Wait: waiting('Wait', { TimeoutSeconds: 60, End: true }) });

  test('are accepted once', async () => {
    const bench = new Bench(once);
    await bench.start();
    const token = await bench.token();
    await bench.succeed(token, { first: true });
    expect(await bench.refused('SendTaskSuccess', { taskToken: token, output: '{}' })).toBe('TaskTimedOut');
    expect(await bench.refused('SendTaskHeartbeat', { taskToken: token })).toBe('TaskTimedOut');
    await bench.ended();
    expect(await bench.output()).toEqual({ first: true });
  });

  test('must be complete and from this machine', async () => {
    const bench = new Bench(once);
    const other = new Bench(once);
    await bench.start();
    await other.start('run-2');
    const token = await bench.token();
    const foreign = await other.token();
    const [body] = foreign.split('.') as [string];
    const forged = `${body}.${token.split('.')[1]}`;
    for (const taskToken of ['nonsense', '.', `${token}x`, foreign, forged]) {
      expect(await bench.refused('SendTaskHeartbeat', { taskToken })).toBe('InvalidToken');
    }
    expect(await bench.refused('SendTaskHeartbeat', { taskToken: '' })).toBe('ValidationException');
    expect(await bench.refused('SendTaskHeartbeat', {})).toBe('ValidationException');
  });

  test('can be answered before the function returns', async () => {
    const bench: Bench = new Bench(once, async ({ payload }) => {
      await bench.succeed(payload.token!, { early: true });
      throw new Error('too late to matter');
    });
    await bench.start();
    await bench.ended();
    expect(await bench.output()).toEqual({ early: true });
    expect(await bench.types()).not.toContain('TaskSubmitted');
  });

  test('are invalid after their attempt; each retry has a new one', async () => {
    const bench = new Bench(
      machine({
        Wait: waiting('Wait', { Retry: [{ ErrorEquals: ['Lost'], IntervalSeconds: 5 }], End: true }),
      }),
    );
    await bench.start();
    const first = await bench.token(1);
    await bench.fail(first, 'Lost');
    await bench.clock.pass(4);
    expect(bench.calls).toHaveLength(1);
    await bench.clock.pass(1);
    const second = await bench.token(2);

    expect(second).not.toBe(first);
    expect(bench.calls.map(({ payload }) => payload.retry)).toEqual([0, 1]);
    expect(await bench.refused('SendTaskSuccess', { taskToken: first, output: '{}' })).toBe('TaskTimedOut');
    await bench.succeed(second, { attempt: 2 });
    await bench.ended();
    expect(await bench.output()).toEqual({ attempt: 2 });
    expect(bench.service.transitions('run-1')).toBe(2);
  });

  test('never appear in the history or on disk', async () => {
    const bench = new Bench(once, ({ payload }) => ({ echo: payload.token }));
    await bench.start();
    const token = await bench.token();
    await bench.succeed(token);
    await bench.ended();
    const history = JSON.stringify(await bench.history());
    expect(history).toContain('TaskSubmitted');
    expect(history).not.toContain(token);
    expect(history).toContain('[task token]');
  });

  test.each(['not json', '', '{"a":'])('reject the output %j and keep the task waiting', async (output) => {
    const bench = new Bench(once);
    await bench.start();
    const taskToken = await bench.token();
    const refusal = await bench.refused('SendTaskSuccess', { taskToken, output });
    expect(refusal).toBe(output === '' ? 'ValidationException' : 'InvalidOutput');
    await bench.succeed(taskToken);
    expect((await bench.ended()).status).toBe('SUCCEEDED');
  });
});
