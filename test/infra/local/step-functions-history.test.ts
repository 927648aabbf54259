import { describe, expect, test } from 'vitest';
import { Bench, executionArn, machine, waiting } from './step-functions.support.ts';

describe('GetExecutionHistory', () => {
  const definition = machine({
    Note: { Type: 'Pass', Next: 'Wait' },
    Wait: waiting('Wait', { TimeoutSeconds: 60, HeartbeatSeconds: 20, Next: 'End' }),
    End: { Type: 'Succeed' },
  });

  test('returns the same events, order and links as AWS', async () => {
    const bench = new Bench(definition);
    await bench.start('run-1', { a: 1 });
    await bench.succeed(await bench.token(), { b: 2 });
    await bench.ended();
    const resource = { resourceType: 'lambda', resource: 'invoke.waitForTaskToken' };
    const included = { truncated: false };
    const timestamp = new Date('2030-01-01');
    const parameters = {
      FunctionName: 'arn:aws:lambda:us-east-1:000000000000:function:Wait',
      Payload: { token: '[task token]', retry: 0, input: { a: 1 } },
    };
    const answer = JSON.stringify({ ExecutedVersion: '$LATEST', Payload: null, StatusCode: 200 });
    const [a, b] = ['{"a":1}', '{"b":2}'];
    const entered = (name: string, input: string) => ({
      stateEnteredEventDetails: { name, input, inputDetails: included },
    });
    const left = (name: string, output: string) => ({
      stateExitedEventDetails: { name, output, outputDetails: included },
    });
    expect(await bench.history()).toEqual(
      [
        [
          'ExecutionStarted',
          0,
          {
            executionStartedEventDetails: {
              input: a,
              inputDetails: included,
              roleArn: 'arn:aws:iam::000000000000:role/StepFunctions',
            },
          },
        ],
        ['PassStateEntered', 0, entered('Note', a)],
        ['PassStateExited', 2, left('Note', a)],
        ['TaskStateEntered', 3, entered('Wait', a)],
        [
          'TaskScheduled',
          4,
          {
            taskScheduledEventDetails: {
              ...resource,
              region: 'us-east-1',
              parameters: JSON.stringify(parameters),
              timeoutInSeconds: 60,
              heartbeatInSeconds: 20,
            },
          },
        ],
        ['TaskStarted', 5, { taskStartedEventDetails: resource }],
        ['TaskSubmitted', 6, { taskSubmittedEventDetails: { ...resource, output: answer, outputDetails: included } }],
        ['TaskSucceeded', 7, { taskSucceededEventDetails: { ...resource, output: b, outputDetails: included } }],
        ['TaskStateExited', 8, left('Wait', b)],
        ['SucceedStateEntered', 9, entered('End', b)],
        ['SucceedStateExited', 10, left('End', b)],
        ['ExecutionSucceeded', 11, { executionSucceededEventDetails: { output: b, outputDetails: included } }],
      ].map(([type, previousEventId, details], index) => ({
        timestamp,
        type,
        id: index + 1,
        previousEventId,
        ...(details as object),
      })),
    );
  });

  test('supports pages, both orders and omitted data, also for running executions', async () => {
    const bench = new Bench(definition);
    await bench.start();
    await bench.called();
    const read = (input: object) =>
      bench.call('GetExecutionHistory', { executionArn: executionArn('run-1'), ...input });
    const ids: number[] = [];
    let nextToken: string | undefined;
    do {
      const page = await read({ maxResults: 3, reverseOrder: true, nextToken });
      expect(page.events.length).toBeLessThanOrEqual(3);
      ids.push(...page.events.map(({ id }: { id: number }) => id));
      nextToken = page.nextToken;
    } while (nextToken);
    expect(ids).toEqual([7, 6, 5, 4, 3, 2, 1]);
    const { events } = await read({ includeExecutionData: false });
    expect(events[1].stateEnteredEventDetails).toEqual({ name: 'Note' });
    expect(await bench.refused('GetExecutionHistory', { executionArn: executionArn('run-1'), nextToken: 'x' })).toBe(
      'InvalidToken',
    );
    expect(await bench.refused('GetExecutionHistory', { executionArn: executionArn('run-1'), maxResults: 1001 })).toBe(
      'ValidationException',
    );
    expect(await bench.refused('GetExecutionHistory', { executionArn: executionArn('run-9') })).toBe(
      'ExecutionDoesNotExist',
    );
    expect(await bench.refused('GetExecutionHistory', { executionArn: 'run-1' })).toBe('InvalidArn');
  });
});
