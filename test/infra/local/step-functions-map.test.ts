import { describe, expect, test } from 'vitest';
import {
  Bench,
  cutAfter,
  executionArn,
  killed,
  linesOf,
  machine,
  task,
  throwing,
  until,
  waiting,
} from './step-functions.support.ts';

const tasks = (inner: Record<string, object>, more: object = {}) =>
  machine({
    Tasks: {
      Type: 'Map',
      ItemsPath: '$.items',
      ItemProcessor: machine(inner),
      ResultPath: '$.results',
      End: true,
      ...more,
    },
    Caught: { Type: 'Succeed' },
  });

describe('a Map', () => {
  const each = tasks({
    Ask: waiting('Ask', { Next: 'Note' }),
    Note: { Type: 'Pass', Parameters: { 'index.$': '$$.Map.Item.Index', 'said.$': '$' }, End: true },
  });

  test('gives each item its own token and keeps the order', async () => {
    const bench = new Bench(each);
    await bench.start('run-1', { items: ['a', 'b', 'c'] });
    await bench.called(3);
    const tokens = bench.calls.map(({ payload }) => payload.token!);
    expect(new Set(tokens).size).toBe(3);
    expect(bench.calls.map(({ payload }) => payload.input)).toEqual(['a', 'b', 'c']);
    for (const index of [2, 0, 1]) await bench.succeed(tokens[index]!, `done ${index}`);
    await bench.ended();
    expect(await bench.output()).toEqual({
      items: ['a', 'b', 'c'],
      results: [0, 1, 2].map((index) => ({ index, said: `done ${index}` })),
    });
    expect(bench.service.transitions('run-1')).toBe(7);
  });

  test('offers index, value and execution input to ItemSelector', async () => {
    const bench = new Bench(
      tasks(
        { Call: task('Call', { ResultSelector: { 'all.$': '$$.Map.Item' }, End: true }) },
        {
          ItemSelector: {
            'i.$': '$$.Map.Item.Index',
            'v.$': '$$.Map.Item.Value.n',
            'run.$': '$$.Execution.Input.run',
            'more.$': '$.more',
          },
        },
      ),
    );
    await bench.start('run-1', { items: [{ n: 5 }, { n: 6 }], run: 'r', more: true });
    await bench.ended();
    expect(bench.calls.map(({ payload }) => payload.input)).toEqual([
      { i: 0, v: 5, run: 'r', more: true },
      { i: 1, v: 6, run: 'r', more: true },
    ]);
    expect(await bench.output()).toMatchObject({
      results: [{ all: { Index: 0, Value: { n: 5 } } }, { all: { Index: 1 } }],
    });
  });

  test('processes forty items at a time', async () => {
    const bench = new Bench(tasks({ Ask: waiting('Ask') }));
    const items = Array.from({ length: 42 }, (_, index) => index);
    await bench.start('run-1', { items });
    for (const done of items) {
      await bench.called(Math.min(42, done + 40));
      expect(bench.calls).toHaveLength(Math.min(42, done + 40));
      await bench.succeed(bench.calls[done]!.payload.token!, done);
    }
    await bench.ended();
    expect(await bench.output()).toMatchObject({ results: items });
  });

  test('over an empty list returns an empty list', async () => {
    const bench = new Bench(each);
    await bench.start('run-1', { items: [] });
    await bench.ended();
    expect(await bench.output()).toEqual({ items: [], results: [] });
  });

  test.each([{ items: 'abc' }, { items: { a: 1 } }, {}])('over %j fails with States.Runtime', async (input) => {
    const bench = new Bench(each);
    await bench.start('run-1', input);
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'States.Runtime' });
  });

  test('fails with the first failed item and invalidates other tokens', async () => {
    const bench = new Bench(
      tasks({ Ask: waiting('Ask') }, { Catch: [{ ErrorEquals: ['Refused'], ResultPath: '$.error', Next: 'Caught' }] }),
    );
    await bench.start('run-1', { items: [1, 2] });
    await bench.called(2);
    const [first, second] = bench.calls.map(({ payload }) => payload.token!) as [string, string];
    await bench.fail(second, 'Refused', 'no');
    await bench.clock.pass(0);
    expect(await bench.refused('SendTaskSuccess', { taskToken: first, output: '{}' })).toBe('TaskTimedOut');
    await bench.ended();
    expect(await bench.output()).toEqual({ items: [1, 2], error: { Error: 'Refused', Cause: 'no' } });
    const history = await bench.history();
    const from = history.findIndex(({ type }) => type === 'TaskFailed');
    const failed = history[from].id;
    expect(history.slice(from + 1, from + 7).map(({ type, previousEventId }) => [type, previousEventId])).toEqual([
      ['MapIterationFailed', failed],
      ['TaskStateAborted', failed],
      ['MapIterationAborted', failed],
      ['TaskStateAborted', failed],
      ['MapStateFailed', failed],
      ['MapStateExited', failed + 5],
    ]);
  });

  test('can be retried as a whole', async () => {
    const bench = new Bench(
      tasks({ Call: task('Call') }, { Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 5 }] }),
      ({ payload }, count) => (payload.input === 2 && count <= 2 ? throwing('Busy')() : payload.input),
    );
    await bench.start('run-1', { items: [1, 2] });
    await bench.called(2);
    await bench.clock.pass(5);
    await bench.ended();
    expect(await bench.output()).toMatchObject({ results: [{ answer: 1 }, { answer: 2 }] });
    const types = await bench.types();
    expect(types.filter((type) => type === 'MapStateStarted')).toHaveLength(2);
    expect(types).not.toContain('MapStateFailed');
  });
});

describe('a Map and a restart', () => {
  const each = tasks(
    { Ask: waiting('Ask', { Next: 'Then' }), Then: task('Then') },
    { ItemSelector: { 'id.$': '$$.Map.Item.Value' }, Retry: [{ ErrorEquals: ['Again'], IntervalSeconds: 1 }] },
  );

  test('keeps finished items and the tokens of waiting ones', async () => {
    const bench = new Bench(each, ({ payload }) => payload.input);
    await bench.start('run-1', { items: ['a', 'b', 'c'] });
    await bench.called(3);
    const tokens = bench.calls.map(({ payload }) => payload.token!);
    await bench.succeed(tokens[1]!, 'B');
    await bench.called(4);
    const second = new Bench(each, ({ payload }) => payload.input, {
      dataDir: killed(bench.dataDir),
      clock: bench.clock,
    });
    for (const [index, word] of [
      [2, 'C'],
      [0, 'A'],
    ] as const)
      await second.succeed(tokens[index]!, word);
    await second.ended();
    expect(await second.output()).toMatchObject({ results: [{ answer: 'A' }, { answer: 'B' }, { answer: 'C' }] });
    expect(second.calls.map(({ stateName }) => stateName)).toEqual(['Then', 'Then']);
    const ids = (await second.history()).map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, index) => index + 1));
  });

  test('does not repeat a failed attempt', async () => {
    const bench = new Bench(each, ({ payload }) => payload.input);
    await bench.start('run-1', { items: ['a', 'b'] });
    await bench.called(2);
    await bench.fail(bench.calls[0]!.payload.token!, 'Again');
    await bench.clock.pass(1);
    await bench.called(4);
    const second = new Bench(each, ({ payload }) => payload.input, {
      dataDir: killed(bench.dataDir),
      clock: bench.clock,
    });
    await second.service.resume();
    expect(second.calls).toEqual([]);
    expect(await second.refused('SendTaskSuccess', { taskToken: bench.calls[1]!.payload.token!, output: '1' })).toBe(
      'TaskTimedOut',
    );
    for (const call of bench.calls.slice(2)) await second.succeed(call.payload.token!, 1);
    await second.ended();
    expect((await second.describe()).status).toBe('SUCCEEDED');
    expect(second.service.transitions('run-1')).toBe(8);
  });

  test('reaches the same end from every truncation of the journal', async () => {
    const bench = new Bench(each, ({ payload }) => payload.input);
    await bench.start('run-1', { items: ['a', 'b', 'c'] });
    await bench.called(3);
    await bench.succeed(bench.calls[2]!.payload.token!, 'C');
    await bench.called(4);
    await bench.fail(bench.calls[0]!.payload.token!, 'Again');
    await bench.clock.pass(1);
    const answer = (call: { payload: { token?: string; input?: unknown } }, of: Bench) =>
      of.succeed(call.payload.token!, (call.payload.input as { id: string }).id.toUpperCase()).catch(() => {});
    const asked = () => bench.calls.filter(({ stateName }) => stateName === 'Ask');
    for (const call of asked().slice(3)) await answer(call, bench);
    await bench.ended();
    const expected = await bench.output();
    expect(expected).toMatchObject({ results: [{ answer: 'A' }, { answer: 'B' }, { answer: 'C' }] });

    const { length } = linesOf(killed(bench.dataDir));
    for (let count = 1; count < length; count++) {
      const dataDir = killed(bench.dataDir);
      cutAfter(dataDir, count);
      const second = new Bench(each, ({ payload }) => payload.input, { dataDir, clock: bench.clock });
      expect(await second.service.resume()).toEqual({ resumed: 1 });
      for (let round = 0; round < 10 && second.events.length === 0; round++) {
        // A worker answers with its token from before or after the kill.
        for (const call of [...asked(), ...second.calls.filter(({ stateName }) => stateName === 'Ask')]) {
          await answer(call, second);
        }
        await second.clock.pass(1);
      }
      expect([count, await second.output()]).toEqual([count, expected]);
      const ids = (await second.history()).map(({ id }) => id);
      expect(ids).toEqual(ids.map((_, index) => index + 1));
      await second.service.close();
    }
  });

  test('redrives only items that have not succeeded', async () => {
    let broken = true;
    const calls = tasks({ Call: task('Call') });
    const bench = new Bench(calls, async ({ payload }) => {
      if (payload.input === 'b' && broken) {
        // Once the other item has succeeded, so that there is one to keep.
        await until(() => bench.events.length === 1 && bench.calls.length === 2);
        await bench.clock.pass(0);
        throwing('Broken')();
      }
      return payload.input;
    });
    await bench.start('run-1', { items: ['a', 'b'] });
    expect(await bench.ended()).toMatchObject({ status: 'FAILED', error: 'Broken' });
    broken = false;
    const second = new Bench(calls, ({ payload }) => payload.input, {
      dataDir: killed(bench.dataDir),
      clock: bench.clock,
    });
    await second.call('RedriveExecution', { executionArn: executionArn('run-1') });
    await second.clock.pass(0);
    expect(await second.output()).toMatchObject({ results: [{ answer: 'a' }, { answer: 'b' }] });
    expect(second.calls.map(({ payload }) => payload.input)).toEqual(['b']);
    expect((await second.types()).filter((type) => type === 'MapStateStarted')).toHaveLength(1);
  });
});

test('a Map within a Map resumes after a restart', async () => {
  const inner = { Type: 'Map', ItemProcessor: machine({ Ask: waiting('Ask') }), End: true };
  const nested = machine({ Rows: { Type: 'Map', ItemProcessor: machine({ Row: inner }), End: true } });
  const rows = [[1, 2], [3], []];
  const bench = new Bench(nested);
  await bench.start('run-1', rows);
  await bench.called(3);
  await bench.succeed(bench.calls[0]!.payload.token!, 'one');
  const second = new Bench(nested, undefined, { dataDir: killed(bench.dataDir), clock: bench.clock });
  await second.service.resume();
  expect(second.calls).toEqual([]);
  for (const call of bench.calls.slice(1)) await second.succeed(call.payload.token!, call.payload.input);
  await second.ended();
  expect(await second.output()).toEqual([['one', 2], [3], []]);
});
