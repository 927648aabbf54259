import { describe, expect, test } from 'vitest';
import {
  type Answer,
  Bench,
  cutAfter,
  executionArn,
  killed,
  linesOf,
  machine,
  restart,
  task,
  waiting,
} from './step-functions.support.ts';

describe('after a restart', () => {
  const run = machine(
    {
      Plan: waiting('Plan', { ResultPath: '$.plan', Next: 'Confirm' }),
      Confirm: waiting('Confirm', {
        TimeoutSeconds: 3600,
        HeartbeatSeconds: 600,
        ResultPath: '$.confirm',
        Next: 'Apply',
      }),
      Apply: task('Apply', { ResultPath: '$.apply', End: true }),
    },
    { TimeoutSeconds: 10_000 },
  );

  const upToConfirm = async () => {
    const bench = new Bench(run, ({ stateName }) => ({ by: stateName }));
    await bench.start('run-1', { runId: 1 });
    await bench.succeed(await bench.token(1), { changes: 2 });
    return { bench, token: await bench.token(2) };
  };

  test('continues a wait with the same token without calling the function again', async () => {
    const { bench, token } = await upToConfirm();
    const second = restart(bench, run, ({ stateName }) => ({ by: stateName }));
    expect(await second.service.resume()).toEqual({ resumed: 1 });
    expect(second.calls).toEqual([]);
    expect(await second.describe()).toMatchObject({ status: 'RUNNING', input: '{"runId":1}' });

    await second.call('SendTaskHeartbeat', { taskToken: token });
    await second.succeed(token, 'yes');
    expect((await second.ended()).status).toBe('SUCCEEDED');
    expect(await second.output()).toEqual({
      runId: 1,
      plan: { changes: 2 },
      confirm: 'yes',
      apply: { answer: { by: 'Apply' } },
    });
    expect(second.calls.map(({ stateName }) => stateName)).toEqual(['Apply']);
    expect(second.service.transitions('run-1')).toBe(3);
    const ids = (await second.history()).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, index) => index + 1));
  });

  test('accepts a token before the execution was resumed', async () => {
    const { bench, token } = await upToConfirm();
    const second = restart(bench, run);
    await second.succeed(token);
    expect((await second.ended()).status).toBe('SUCCEEDED');
    expect(await second.service.resume()).toEqual({ resumed: 0 });
  });

  test('handles StartExecution with the same name and StopExecution', async () => {
    const { bench } = await upToConfirm();
    const second = restart(bench, run);
    expect(await second.start('run-1', { runId: 1 })).toEqual(await bench.start('run-1', { runId: 1 }));
    expect(
      await second.refused('StartExecution', {
        stateMachineArn: executionArn('x').replace(':execution:Runs:x', ':stateMachine:Runs'),
        name: 'run-1',
        input: '[]',
      }),
    ).toBe('ExecutionAlreadyExists');
    const third = restart(bench, run);
    await third.call('StopExecution', { executionArn: executionArn('run-1') });
    expect((await third.describe()).status).toBe('ABORTED');
    expect(third.calls).toEqual([]);
  });

  test("keeps a wait's deadline and restarts its heartbeat interval", async () => {
    const { bench, token } = await upToConfirm();
    for (let beat = 0; beat < 5; beat++) {
      await bench.clock.pass(599);
      await bench.call('SendTaskHeartbeat', { taskToken: token });
    }
    const left = 3600 - 5 * 599;
    const dataDir = killed(bench.dataDir);
    await bench.service.close();
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    await second.service.resume();
    await bench.clock.pass(599);
    expect((await second.describe()).status).toBe('RUNNING');
    await second.call('SendTaskHeartbeat', { taskToken: token });
    await bench.clock.pass(left - 599 - 1);
    expect((await second.describe()).status).toBe('RUNNING');
    await bench.clock.pass(1);
    expect(await second.ended()).toMatchObject({ error: 'States.Timeout' });
  });

  test('fires timers that expired meanwhile', async () => {
    const { bench } = await upToConfirm();
    const dataDir = killed(bench.dataDir);
    await bench.service.close();
    await bench.clock.pass(4000);
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    await second.service.resume();
    await bench.clock.pass(0);
    expect(await second.ended()).toMatchObject({ status: 'FAILED', error: 'States.Timeout' });

    const late = new Bench(run, undefined, { dataDir: killed(dataDir) });
    await late.service.resume();
    expect((await late.describe()).status).toBe('FAILED');
  });

  test("continues the machine's timeout", async () => {
    const { bench } = await upToConfirm();
    const dataDir = killed(bench.dataDir);
    await bench.service.close();
    await bench.clock.pass(20_000);
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    await second.service.resume();
    await bench.clock.pass(0);
    const { status } = await second.ended();
    expect(['FAILED', 'TIMED_OUT']).toContain(status);
  });

  test('repeats a call whose response was not recorded, with the same token', async () => {
    const never = new Promise(() => {});
    const bench = new Bench(run, () => never);
    await bench.start();
    const token = await bench.token();
    const second = restart(bench, run, () => never);
    await second.service.resume();
    expect(await second.token()).toBe(token);
    await second.succeed(token);
    expect((await second.called(2)).stateName).toBe('Confirm');
  });

  test('acts and responds only after writing to disk', async () => {
    const onDisk: (string | undefined)[] = [];
    const last = () => linesOf(killed(bench.dataDir)).at(-1)?.type;
    const bench: Bench = new Bench(run, () => {
      onDisk.push(last());
    });
    await bench.start();
    expect(last()).toBe('TaskStarted');
    await bench.succeed(await bench.token(1));
    expect(linesOf(killed(bench.dataDir)).map(({ type }) => type)).toContain('TaskSucceeded');
    await bench.succeed(await bench.token(2));
    await bench.ended();
    expect(onDisk).toEqual(['TaskStarted', 'TaskStarted', 'TaskStarted']);
    expect(last()).toBe('ExecutionSucceeded');
  });

  test('does not repeat an answered call, wherever the journal ends', async () => {
    const { bench } = await upToConfirm();
    for (const [type, calls] of [
      ['TaskSucceeded', ['Confirm']],
      ['TaskSubmitted', []],
      ['TaskStarted', ['Confirm']],
      ['TaskScheduled', ['Confirm']],
      ['TaskStateEntered', ['Confirm']],
      ['TaskStateExited', ['Confirm']],
      ['ExecutionStarted', ['Plan']],
    ] as const) {
      const dataDir = killed(bench.dataDir);
      cutAfter(dataDir, linesOf(dataDir).findLastIndex((line) => line.type === type) + 1);
      const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
      await second.service.resume();
      expect([type, second.calls.map(({ stateName }) => stateName)]).toEqual([type, calls]);
      await second.service.close();
    }
  });

  test('reaches the same end from every truncation of the journal', async () => {
    const { bench, token } = await upToConfirm();
    await bench.succeed(token, 'yes');
    await bench.ended();
    const expected = await bench.output();
    const { length } = linesOf(killed(bench.dataDir));
    const answer: Answer = ({ stateName, payload }) => {
      if (stateName === 'Apply') return { by: 'Apply' };
      const output = stateName === 'Plan' ? { changes: 2 } : 'yes';
      // Refused if the test's own answer below was first.
      queueMicrotask(() => second.succeed(payload.token!, output).catch(() => {}));
      return { by: stateName };
    };
    let second: Bench;
    for (let count = 1; count < length; count++) {
      const dataDir = killed(bench.dataDir);
      cutAfter(dataDir, count);
      second = new Bench(run, answer, { dataDir, clock: bench.clock });
      await second.service.resume();
      // The journal is cut after the call that hands out the token, so its worker still has it.
      await second.service.handle('SendTaskSuccess', { taskToken: token, output: '"yes"' }).catch(() => {});
      if ((await second.types()).at(-1) === 'TaskSubmitted') {
        await second.succeed(await bench.token(1), { changes: 2 });
      }
      await second.ended();
      expect([count, await second.output()]).toEqual([count, expected]);
      await second.service.close();
    }
  });

  test('drops a start that was not acknowledged', async () => {
    const bench = new Bench(run);
    await bench.start();
    const dataDir = killed(bench.dataDir);
    cutAfter(dataDir, 0);
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    expect(await second.service.resume()).toEqual({ resumed: 0 });
    expect(await second.refused('DescribeExecution', { executionArn: executionArn('run-1') })).toBe(
      'ExecutionDoesNotExist',
    );
    await second.start();
    await second.succeed(await second.token());
    expect((await second.called(2)).stateName).toBe('Confirm');
  });

  test('reports a recorded end that was not reported', async () => {
    const { bench, token } = await upToConfirm();
    await bench.fail(token, 'Discarded');
    await bench.ended();
    const dataDir = killed(bench.dataDir);
    cutAfter(dataDir, linesOf(dataDir).length);
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    expect(await second.service.resume()).toEqual({ resumed: 0 });
    await second.ended();
    expect(second.events.map(({ detail }) => [detail.status, detail.error])).toEqual([['FAILED', 'Discarded']]);
    const third = restart(second, run);
    await third.service.resume();
    expect(third.events).toEqual([]);
  });

  test('keeps the definition that the execution was started with', async () => {
    const { bench, token } = await upToConfirm();
    const changed = machine({ Other: { Type: 'Pass', End: true } });
    const second = restart(bench, changed, () => 'old');
    await second.service.resume();
    await second.succeed(token, 'yes');
    await second.ended();
    expect(await second.output()).toMatchObject({ apply: { answer: 'old' } });
    await second.start('run-2', { new: true });
    await second.ended('run-2');
    expect(await second.output('run-2')).toEqual({ new: true });
  });

  test('leaves the same journal after a graceful stop and a kill', async () => {
    const { bench, token } = await upToConfirm();
    await bench.service.close();
    expect(bench.clock.armed).toBe(0);
    expect(await bench.refused('DescribeExecution', { executionArn: executionArn('run-1') })).toBe(
      'ServiceUnavailable',
    );
    const second = new Bench(run, undefined, { dataDir: bench.dataDir, clock: bench.clock });
    expect(await second.service.resume()).toEqual({ resumed: 1 });
    await second.succeed(token);
    expect((await second.ended()).status).toBe('SUCCEEDED');
  });
});
