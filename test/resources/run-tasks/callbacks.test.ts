import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '#run/run.ts';
import { detailOf, pointerOf, startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { taskHelpers } from '#test/support/task-stages.ts';

const api = await startApi();
const runs = await runHelpers(api);
const help = await taskHelpers();
const task = await help.task();
beforeEach(() => {
  api.aws.sent.length = 0;
});

/** A run that waits for its task. */
const waiting = async () => {
  const run = await runs.create((await runs.ready()).id);
  const { stage, result } = await help.stageOf(run.id, task.id);
  await runs.bring(run.id, {
    status: 'post_plan_running',
    'statusTimestamps.post-plan-running-at': '2026-01-01T00:00:01.000Z',
  });
  const { token, accessToken } = await help.ask(result);
  api.aws.sent.length = 0;
  const send = (body: unknown, sent = {}) =>
    api.call('PATCH', `task-results/${result}/callback`, { token: accessToken, body, ...sent });
  return {
    run,
    stage,
    result,
    token,
    accessToken,
    send,
    say: (attributes: object, outcomes?: unknown[]) => send(saying(attributes, outcomes)),
    read: async () => (await api.get(`task-results/${result}`)).body.data.attributes,
    outcomes: async () => (await api.get(`task-results/${result}/outcomes?page[size]=100`)).body,
  };
};

const saying = (attributes: object, outcomes?: unknown[]) => ({
  data: {
    type: 'task-results',
    attributes,
    ...(outcomes ? { relationships: { outcomes: { data: outcomes } } } : {}),
  },
});
const outcome = (change: object = {}) => ({
  type: 'task-result-outcomes',
  attributes: { 'outcome-id': 'CC-1', description: 'public bucket', ...change },
});

const told = () => api.aws.sent.map(({ action, input }) => [action, input.taskToken]);

describe('a callback', () => {
  it('of progress extends the wait, any number of times', async () => {
    const { say, read, token } = await waiting();
    for (const message of ['10 %', '50 %', '90 %'])
      expect((await say({ status: 'running', message })).status).toBe(200);
    expect(await read()).toMatchObject({ status: 'running', message: '90 %' });
    expect(told()).toEqual(Array.from({ length: 3 }, () => ['SendTaskHeartbeat', token]));
  });

  it.each(['passed', 'failed'])('with status %s ends the wait', async (status) => {
    const { say, read, token } = await waiting();
    const answer = await say({ status, message: '4 passed', url: 'https://task.test/details' });
    expect([answer.status, answer.body.data.attributes.status]).toEqual([200, status]);
    expect(await read()).toMatchObject({
      status,
      message: '4 passed',
      url: 'https://task.test/details',
      'status-timestamps': { [`${status}-at`]: expect.any(String) },
    });
    expect(told()).toEqual([['SendTaskSuccess', token]]);
  });

  it('that is final may be repeated, and is not changed by another', async () => {
    const { say, read, token } = await waiting();
    await say({ status: 'passed', message: 'fine' });
    expect((await say({ status: 'passed', message: 'still fine' })).status).toBe(200);
    for (const status of ['failed', 'running']) {
      const answer = await say({ status });
      expect(detailOf(answer)).toEqual([409, expect.stringContaining('is already passed')]);
    }
    expect(await read()).toMatchObject({ status: 'passed', message: 'fine' });
    // Delivered again, in case the first request was interrupted between its write and the delivery.
    expect(told()).toEqual([
      ['SendTaskSuccess', token],
      ['SendTaskSuccess', token],
    ]);
  });

  it('is applied completely or not at all when another one arrives concurrently', async () => {
    const { say, read } = await waiting();
    const answers = await Promise.all(
      ['passed', 'failed', 'passed', 'failed'].map((status) => say({ status, message: status })),
    );
    const { status, message } = await read();
    expect(message).toBe(status);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 409, 409]);
  });

  it('at the moment of the timeout leaves one result, and the execution continues either way', async () => {
    const { say, read, run, result } = await waiting();
    const { handler } = await import('#lifecycle/states/task-unanswered.ts');
    const [answer] = await Promise.all([
      say({ status: 'passed' }),
      handler({ runId: run.id, taskResultId: result, error: { Error: 'States.Timeout' } }),
    ]);
    const { status } = await read();
    expect([answer.status, status]).toEqual(status === 'passed' ? [200, 'passed'] : [409, 'errored']);
  });

  it('after the timeout is rejected with 409', async () => {
    const { say, read, run, result } = await waiting();
    const { handler } = await import('#lifecycle/states/task-unanswered.ts');
    await handler({ runId: run.id, taskResultId: result, error: { Error: 'States.Timeout' } });
    expect((await say({ status: 'passed' })).status).toBe(409);
    expect((await read()).status).toBe('errored');
  });

  it.each(['canceled', 'cancel'])('after a cancel is accepted, and does not resume the run (%s)', async (how) => {
    const { say, read, run } = await waiting();
    if (how === 'cancel') await api.call('POST', `runs/${run.id}/actions/cancel`);
    else await runs.bring(run.id, { status: 'canceled' } as Partial<Run>);
    api.aws.sent.length = 0;
    for (const status of ['running', 'passed', 'failed']) expect((await say({ status })).status).toBe(200);
    expect((await read()).status).toBe('unreachable');
    expect(told()).toEqual([]);
  });

  it('can arrive before the request was answered', async () => {
    const { say, read, result } = await waiting();
    await say({ status: 'failed' });
    const { acknowledgeResult, getTaskResult } = await import('#resources/run-tasks/results.ts');
    await acknowledgeResult((await getTaskResult(result)) as never);
    expect((await read()).status).toBe('failed');
  });
});

describe('a caller of the callback', () => {
  it('needs the token of the result', async () => {
    const [mine, other] = [await waiting(), await waiting()];
    const body = saying({ status: 'passed' });
    const [id, secret] = mine.accessToken.split('.');
    const bad = [null, '', 'garbage', api.token, other.accessToken, `${id}.${'x'.repeat(43)}`, `${id}.${secret}x`, id];
    for (const token of bad) {
      const answer = await mine.send(body, { token });
      expect([token, answer.status, answer.body.errors[0].status]).toEqual([token, 401, '401']);
    }
    expect([(await mine.read()).status, (await other.read()).status]).toEqual(['pending', 'pending']);
    expect(told()).toEqual([]);
  });

  it('is rejected once the token has expired', async () => {
    const { say, run, result } = await waiting();
    const { update } = await import('#platform/store/table.ts');
    await update(
      { pk: `RUN#${run.id}`, sk: `TASKRESULT#${result.slice(-9)}` },
      { set: { accessExpiresAt: new Date(Date.now() - 1).toISOString() } },
    );
    expect((await say({ status: 'passed' })).status).toBe(401);
  });

  it('is checked before the body is read', async () => {
    const { send } = await waiting();
    expect((await send('not JSON', { token: null })).status).toBe(401);
  });
});

describe('the body of a callback', () => {
  it.each<[string, unknown, string]>([
    ['nothing', {}, '/data'],
    ['another type', { data: { type: 'runs', attributes: { status: 'passed' } } }, '/data/type'],
    ['no type', { data: { attributes: { status: 'passed' } } }, '/data/type'],
    ['no status', saying({}), '/data/attributes/status'],
    ['a status that only the platform sets', saying({ status: 'errored' }), '/data/attributes/status'],
    ['an unknown status', saying({ status: 'great' }), '/data/attributes/status'],
    ['an invalid status', saying({ status: 5 }), '/data/attributes/status'],
    ['a long message', saying({ status: 'passed', message: 'x'.repeat(1001) }), '/data/attributes/message'],
    ['a long url', saying({ status: 'passed', url: `https://a.test/${'x'.repeat(500)}` }), '/data/attributes/url'],
    ['a url that is a script', saying({ status: 'passed', url: 'javascript:alert(1)' }), '/data/attributes/url'],
    ['an invalid url', saying({ status: 'passed', url: 'nowhere' }), '/data/attributes/url'],
    ['outcomes that are no list', saying({ status: 'passed' }, {} as never), '/data/relationships/outcomes/data'],
    [
      '251 outcomes',
      saying(
        { status: 'passed' },
        Array.from({ length: 251 }, (_, i) => outcome({ 'outcome-id': `${i}` })),
      ),
      '/data/relationships/outcomes/data',
    ],
    [
      '10,000 outcomes',
      saying(
        { status: 'passed' },
        Array.from({ length: 10_000 }, (_, i) => outcome({ 'outcome-id': `${i}` })),
      ),
      '/data/relationships/outcomes/data',
    ],
    [
      'an outcome of another type',
      saying({ status: 'passed' }, [{ ...outcome(), type: 'outcomes' }]),
      '/data/relationships/outcomes/data/0/type',
    ],
    [
      'an outcome without a name',
      saying({ status: 'passed' }, [outcome({ 'outcome-id': '' })]),
      '/data/relationships/outcomes/data/0/attributes/outcome-id',
    ],
    [
      'an outcome whose url is a script',
      saying({ status: 'passed' }, [outcome({ url: 'javascript:alert(1)' })]),
      '/data/relationships/outcomes/data/0/attributes/url',
    ],
    [
      'a tag of no level',
      saying({ status: 'passed' }, [outcome({ tags: { Severity: [{ label: 'High', level: 'fatal' }] } })]),
      '/data/relationships/outcomes/data/0/attributes/tags/Severity/0/level',
    ],
    [
      'tags that are no lists',
      saying({ status: 'passed' }, [outcome({ tags: { Severity: 'High' } })]),
      '/data/relationships/outcomes/data/0/attributes/tags/Severity',
    ],
  ])('cannot be %s', async (_, body, pointer) => {
    const { send, read } = await waiting();
    const answer = await send(body);
    expect(pointerOf(answer)).toEqual([422, pointer]);
    expect((await read()).status).toBe('pending');
    expect(told()).toEqual([]);
  });

  it('must be JSON of at most 4.5 MB', async () => {
    const { send, read } = await waiting();
    expect((await send('{"data":')).status).toBe(400);
    const large = saying({ status: 'passed' }, [outcome({ body: 'x'.repeat(4_500_000) })]);
    const answer = await send(large);
    expect(detailOf(answer)).toEqual([413, expect.stringContaining('the maximum is 4500000')]);
    expect((await read()).status).toBe('pending');
  });
});

describe('outcomes', () => {
  const tags = {
    Status: [{ label: 'Denied', level: 'error' }],
    Severity: [{ label: 'High', level: 'error' }, { label: 'Recoverable' }],
    Category: [],
  };

  it('are stored with their tags and listed without their bodies', async () => {
    const { say, read, outcomes, result } = await waiting();
    const body = '# Markdown <script>alert(1)</script>';
    await say({ status: 'running' }, [outcome({ body, url: 'https://task.test/1', tags })]);
    expect((await read())['task-result-outcomes-count']).toBe(1);
    const [stored] = (await outcomes()).data;
    expect(stored).toMatchObject({
      type: 'task-result-outcomes',
      attributes: {
        'outcome-id': 'CC-1',
        description: 'public bucket',
        url: 'https://task.test/1',
        tags: [
          { label: 'Status', value: [{ label: 'Denied', level: 'error' }] },
          {
            label: 'Severity',
            value: [
              { label: 'High', level: 'error' },
              { label: 'Recoverable', level: 'none' },
            ],
          },
          { label: 'Category', value: [] },
        ],
        'created-at': expect.stringMatching(/Z$/),
      },
      relationships: { 'task-result': { data: { type: 'task-results', id: result } } },
    });
    expect((await api.get(`task-result-outcomes/${stored.id}`)).body.data).toEqual(stored);
    const raw = await api.get(stored.links.body);
    expect(raw).toMatchObject({ status: 200, body, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  });

  it('are added to earlier ones, and replace those with the same name', async () => {
    const { say, outcomes } = await waiting();
    await say({ status: 'running' }, [outcome(), outcome({ 'outcome-id': 'CC-2', description: 'second' })]);
    await say({ status: 'running' });
    await say({ status: 'failed' }, [outcome({ description: 'changed' }), outcome({ 'outcome-id': 'CC-3' })]);
    const { data, meta } = await outcomes();
    expect(
      data.map(({ attributes }: { attributes: Record<string, string> }) => [
        attributes['outcome-id'],
        attributes.description,
      ]),
    ).toEqual([
      ['CC-1', 'changed'],
      ['CC-2', 'second'],
      ['CC-3', 'public bucket'],
    ]);
    expect(meta.pagination['total-count']).toBe(3);
  });

  it('of concurrent callbacks are all kept', async () => {
    const { say, outcomes } = await waiting();
    const ids = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(ids.map((id) => say({ status: 'running' }, [outcome({ 'outcome-id': id })])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { data } = await outcomes();
    expect(data.map(({ attributes }: { attributes: object }) => (attributes as never)['outcome-id']).sort()).toEqual(
      ids,
    );
  });

  it('are limited to 250, over all callbacks', async () => {
    const { say, read, outcomes } = await waiting();
    const many = (from: number, n: number) =>
      Array.from({ length: n }, (_, i) => outcome({ 'outcome-id': `o${from + i}` }));
    expect((await say({ status: 'running' }, many(0, 250))).status).toBe(200);
    expect((await outcomes()).data).toHaveLength(100);
    const answer = await say({ status: 'passed' }, many(250, 1));
    expect(detailOf(answer)).toEqual([422, expect.stringContaining('would make 251')]);
    expect((await read()).status).toBe('running');
  });

  it('are also accepted at the position that the vendor’s documentation shows', async () => {
    const { send, outcomes } = await waiting();
    const { data } = saying({ status: 'passed' });
    await send({ data, relationships: { outcomes: { data: [outcome()] } } });
    expect((await outcomes()).data).toHaveLength(1);
  });
});

describe('the token of a run task', () => {
  it('grants the configuration and plan of its run only', async () => {
    const [mine, other] = [await waiting(), await waiting()];
    const sent = { token: mine.accessToken };
    const pathsOf = ({ run }: typeof mine) => ({
      configuration: `configuration-versions/${run.relationships['configuration-version'].data.id}/download`,
      plan: `plans/${run.relationships.plan.data.id}/json-output`,
    });
    expect((await api.get(pathsOf(mine).configuration, sent)).status).toBe(302);
    expect((await api.get(pathsOf(mine).plan, sent)).status).toBe(204);
    await runs.bring(mine.run.id, {
      'plan.report': { outcome: 'finished', artifacts: { 'plan-json': 'sha' } },
    } as Partial<Run>);
    expect((await api.get(pathsOf(mine).plan, sent)).status).toBe(307);
    for (const path of Object.values(pathsOf(other)))
      expect([path, (await api.get(path, sent)).status]).toEqual([path, 404]);

    const { routes } = await import('#public-api/all-routes.ts');
    const opened = ['/api/v2/configuration-versions/{version}/download', '/api/v2/plans/{plan}/json-output'];
    for (const { method, path, access } of routes) {
      if (access === 'anyone' || opened.includes(path)) continue;
      const filled = path
        .replace('{run}', mine.run.id)
        .replace('{plan}', mine.run.relationships.plan.data.id)
        .replace('{workspace}', mine.run.relationships.workspace.data.id)
        .replace('{result}', mine.result)
        .replace('{stage}', mine.stage)
        .replace('{organization}', 'acme')
        .replaceAll(/\{\w+\}/g, 'x');
      expect([method, path, (await api.call(method, filled, { ...sent, body: {} })).status]).toEqual([
        method,
        path,
        404,
      ]);
    }
  });

  it('grants nothing once the result is final', async () => {
    const { run, say, accessToken } = await waiting();
    await say({ status: 'passed' });
    const path = `plans/${run.relationships.plan.data.id}/json-output`;
    expect((await api.get(path, { token: accessToken })).status).toBe(401);
  });
});
