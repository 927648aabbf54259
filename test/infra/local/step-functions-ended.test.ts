import { describe, expect, test } from 'vitest';
import {
  Bench,
  countJournals,
  executionArn,
  machine,
  restart,
  task,
  throwing,
  waiting,
} from './step-functions.support.ts';

describe('executions that have ended', () => {
  const definition = machine({ Call: task('Call', { ResultPath: null, End: true }) });

  test('can be read and redriven after a restart', async () => {
    const bench = new Bench(definition, throwing('Broken'));
    await bench.start('run-1', { runId: 1 });
    const before = [await bench.ended(), await bench.history(), bench.service.transitions('run-1')];
    const second = restart(bench, definition);
    await second.service.resume();
    expect([await second.describe(), await second.history(), second.service.transitions('run-1')]).toEqual(before);
    expect(second.events).toEqual([]);
    await second.call('RedriveExecution', { executionArn: executionArn('run-1') });
    await second.clock.pass(0);
    expect(await second.describe()).toMatchObject({ status: 'SUCCEEDED', redriveCount: 1 });
    const third = restart(second, definition);
    expect(await third.describe()).toEqual(await second.describe());
    expect(third.service.transitions('run-1')).toBe(2);
  });

  test('continue after a restart when they were redriven', async () => {
    const waits = machine({ First: task('First', { Next: 'Wait' }), Wait: waiting('Wait') });
    const bench = new Bench(waits);
    await bench.start();
    await bench.called(2);
    await bench.call('StopExecution', { executionArn: executionArn('run-1') });
    await bench.call('RedriveExecution', { executionArn: executionArn('run-1') });
    const token = await bench.token(3);
    const second = restart(bench, waits);
    expect(await second.service.resume()).toEqual({ resumed: 1 });
    expect(second.calls).toEqual([]);
    await second.succeed(token, 'redriven');
    await second.ended();
    expect(await second.output()).toBe('redriven');
    expect(await second.describe()).toMatchObject({ redriveCount: 1 });
  });

  test('are removed by age and number, with their names and tokens', async () => {
    const waits = machine({ Wait: waiting('Wait') });
    const bench = new Bench(waits, undefined, { keep: 10 });
    const tokens: string[] = [];
    for (let run = 1; run <= 12; run++) {
      await bench.start(`run-${run}`);
      tokens.push(await bench.token(run));
      await bench.succeed(tokens.at(-1)!);
      await bench.ended(`run-${run}`);
      await bench.clock.pass(1);
    }
    const names = async (of: Bench) => {
      const { executions } = await of.call('ListExecutions', {
        stateMachineArn: executionArn('x').replace(':execution:Runs:x', ':stateMachine:Runs'),
      });
      return executions.map(({ name }: { name: string }) => name);
    };
    expect(await names(bench)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((run) => `run-${run}`));
    expect(countJournals(bench)).toBe(10);
    expect(await bench.refused('SendTaskSuccess', { taskToken: tokens[0]!, output: '{}' })).toBe('TaskDoesNotExist');
    await bench.start('run-1');
    expect(await bench.refused('SendTaskSuccess', { taskToken: tokens[0]!, output: '{}' })).toBe('TaskDoesNotExist');

    await bench.clock.pass(91 * 24 * 3600);
    const second = restart(bench, waits);
    expect(await names(second)).toEqual(['run-1']);
    expect(countJournals(second)).toBe(1);
  });
});
