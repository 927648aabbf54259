import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { type Answer, Bench, executionArn, killed, machine, restart, task, waiting } from './step-functions.support.ts';

const journalOf = (dataDir: string): string => {
  const [file] = readdirSync(join(dataDir, 'journals')) as [string];
  return join(dataDir, 'journals', file);
};

/** Everything up to and including the last line that matches. */
const cutAfter = (dataDir: string, pattern: RegExp, rest = ''): void => {
  const lines = readFileSync(journalOf(dataDir), 'utf8').split('\n');
  const last = lines.findLastIndex((line) => pattern.test(line));
  expect(last).toBeGreaterThan(-1);
  writeFileSync(journalOf(dataDir), `${lines.slice(0, last + 1).join('\n')}\n${rest}`);
};

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

  test.each([
    ['was emptied', (file: string) => truncateSync(file)],
    ['was deleted', (file: string) => rmSync(file)],
    ['is damaged', (file: string) => writeFileSync(file, '{ damaged')],
  ])('continues executions, and lists ended ones, if the file with their list %s', async (_, damage) => {
    const { bench, token } = await upToConfirm();
    await bench.start('ended', {});
    await bench.call('StopExecution', { executionArn: executionArn('ended') });
    damage(join(bench.dataDir, 'catalog.jsonl'));
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const second = restart(bench, run);
    vi.restoreAllMocks();
    expect(await second.service.resume()).toEqual({ resumed: 1 });
    await second.succeed(token, 'yes');
    expect((await second.ended()).status).toBe('SUCCEEDED');
    expect(await second.describe('ended')).toMatchObject({ status: 'ABORTED' });
    // The list is complete again.
    const third = restart(second, run);
    expect(await third.service.resume()).toEqual({ resumed: 0 });
    expect((await third.describe()).status).toBe('SUCCEEDED');
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
    const onDisk: string[] = [];
    const last = () => readFileSync(journalOf(bench.dataDir), 'utf8').trimEnd().split('\n').at(-1)!;
    const bench: Bench = new Bench(run, () => {
      onDisk.push(JSON.parse(last()).type);
    });
    await bench.start();
    expect(readFileSync(journalOf(bench.dataDir), 'utf8')).toContain('"ExecutionStarted"');
    await bench.succeed(await bench.token(1));
    expect(readFileSync(journalOf(bench.dataDir), 'utf8')).toContain('"TaskSucceeded"');
    await bench.succeed(await bench.token(2));
    await bench.ended();
    expect(onDisk).toEqual(['TaskStarted', 'TaskStarted', 'TaskStarted']);
    expect(JSON.parse(last()).type).toBe('ExecutionSucceeded');
  });

  test('does not repeat an answered call, wherever the journal ends', async () => {
    const { bench } = await upToConfirm();
    for (const [pattern, calls] of [
      [/"TaskSucceeded"/, ['Confirm']],
      [/"TaskSubmitted"/, []],
      [/"TaskStarted"/, ['Confirm']],
      [/"TaskScheduled"/, ['Confirm']],
      [/"TaskStateEntered"/, ['Confirm']],
      [/"TaskStateExited"/, ['Confirm']],
      [/"ExecutionStarted"/, ['Plan']],
    ] as const) {
      const dataDir = killed(bench.dataDir);
      cutAfter(dataDir, pattern);
      const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
      await second.service.resume();
      expect([String(pattern), second.calls.map(({ stateName }) => stateName)]).toEqual([String(pattern), calls]);
      await second.service.close();
    }
  });

  test('ignores a half-written last line', async () => {
    const { bench, token } = await upToConfirm();
    const dataDir = killed(bench.dataDir);
    appendFileSync(journalOf(dataDir), '{"id":14,"previous":13,"type":"TaskSucc');
    appendFileSync(join(dataDir, 'catalog.jsonl'), '{"executionArn":"arn:aws:st');
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    expect(await second.service.resume()).toEqual({ resumed: 1 });
    await second.succeed(token);
    await second.ended();
    const third = restart(second, run);
    expect((await third.describe()).status).toBe('SUCCEEDED');
    expect((await third.history()).at(-1).type).toBe('ExecutionSucceeded');
  });

  test('reaches the same end from every truncation of the journal', async () => {
    const { bench, token } = await upToConfirm();
    await bench.succeed(token, 'yes');
    await bench.ended();
    const expected = await bench.output();
    const size = readFileSync(journalOf(bench.dataDir)).length;
    const catalog = readFileSync(join(bench.dataDir, 'catalog.jsonl'), 'utf8').split('\n')[0]!;
    const answer: Answer = ({ stateName, payload }) => {
      if (stateName === 'Apply') return { by: 'Apply' };
      const output = stateName === 'Plan' ? { changes: 2 } : 'yes';
      queueMicrotask(() => void second.succeed(payload.token!, output));
      return { by: stateName };
    };
    let second: Bench;
    let resumed = 0;
    for (let bytes = 1; bytes < size; bytes += 97) {
      const dataDir = killed(bench.dataDir);
      truncateSync(journalOf(dataDir), bytes);
      writeFileSync(join(dataDir, 'catalog.jsonl'), `${catalog}\n`);
      second = new Bench(run, answer, { dataDir, clock: bench.clock });
      await second.service.resume();
      if (!(await second.history().catch(() => undefined))) continue;
      // The journal is cut after the call that hands out the token, so its worker still has it.
      await second.service.handle('SendTaskSuccess', { taskToken: token, output: '"yes"' }).catch(() => {});
      if ((await second.types()).at(-1) === 'TaskSubmitted') {
        await second.succeed(await bench.token(1), { changes: 2 });
      }
      await second.ended();
      expect([bytes, await second.output()]).toEqual([bytes, expected]);
      resumed++;
      await second.service.close();
    }
    expect(resumed).toBeGreaterThan(30);
  });

  test('drops a start that was not acknowledged', async () => {
    const bench = new Bench(run);
    await bench.start();
    const dataDir = killed(bench.dataDir);
    truncateSync(journalOf(dataDir), 5);
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
    const catalog = readFileSync(join(bench.dataDir, 'catalog.jsonl'), 'utf8');
    await bench.fail(token, 'Discarded');
    await bench.ended();
    const dataDir = killed(bench.dataDir);
    writeFileSync(join(dataDir, 'catalog.jsonl'), catalog);
    const second = new Bench(run, undefined, { dataDir, clock: bench.clock });
    expect(await second.service.resume()).toEqual({ resumed: 0 });
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
