import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskResult } from '#resources/run-tasks/results.ts';
import type { TaskStage } from '#run/check-record.ts';
import { startApi } from '#test/support/api.ts';
import { runHelpers } from '#test/support/runs.ts';
import { payloadKeys, signatureOf, startTaskServer, status } from '#test/support/task-server.ts';
import { taskHelpers } from '#test/support/task-stages.ts';

let unanswered: typeof import('#lifecycle/states/task-unanswered.ts')['handler'];
const api = await startApi();
const server = await startTaskServer();
const runs = await runHelpers(api);
const help = await taskHelpers();
process.env.PUBLIC_URL = 'https://api.example.test';
const { runTask } = await import('#lifecycle/states/run-task.ts');
({ handler: unanswered } = await import('#lifecycle/states/task-unanswered.ts'));
const results = await import('#resources/run-tasks/results.ts');
beforeEach(() => {
  process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
  server.answer = status(200);
  server.requests.length = 0;
  api.aws.sent.length = 0;
});

const pausesMs = [1, 1];

/** A run whose stage calls the server; `change` is merged into its create call. */
const asking = async (stage: TaskStage = 'post_plan', change: object = {}, hmacKey: string | null = 'secret') => {
  const run = await runs.create((await runs.ready({ 'working-directory': 'net' })).id, change);
  const task = await help.task({ url: server.url, hmacKey });
  const { result } = await help.stageOf(run.id, task.id, stage);
  // The machine's state before the stage.
  const before = {
    pre_plan: 'pending',
    post_plan: 'planning',
    pre_apply: 'confirmed',
    post_apply: 'applying',
  } as const;
  await runs.bring(run.id, { status: before[stage] });
  const input = { runId: run.id as string, taskResultId: result, token: `token of ${result}` };
  return { run, task, input, ask: (pauses = pausesMs) => runTask(input, pauses), read: () => resultOf(result) };
};
const resultOf = async (id: string): Promise<TaskResult> => (await results.getTaskResult(id)) as TaskResult;

/** Results sent to executions since the test began. */
const told = () => api.aws.sent.filter(({ action }) => action.startsWith('SendTask'));
const succeeded = (token: string) => ({ action: 'SendTaskSuccess', input: { taskToken: token, output: '{}' } });

describe('the request to a run task', () => {
  it.each<TaskStage>(['pre_plan', 'post_plan', 'pre_apply', 'post_apply'])(
    'contains every property of the contract at %s',
    async (stage) => {
      const { run, input, ask } = await asking(stage, { message: 'why' });
      await ask();
      const [{ payload, headers, bytes } = await server.request(1)] = server.requests;
      expect(Object.keys(payload).sort()).toEqual(payloadKeys(stage));
      const base = 'https://api.example.test';
      const { id: workspace } = run.relationships.workspace.data;
      const { attributes } = (await api.get(`workspaces/${workspace}`)).body.data;
      const version = run.relationships['configuration-version'].data.id;
      expect(payload).toEqual({
        ...payload,
        payload_version: 1,
        stage,
        access_token: expect.stringMatching(/^sft_/),
        capabilities: { outcomes: true },
        configuration_version_id: version,
        configuration_version_download_url: `${base}/api/v2/configuration-versions/${version}/download`,
        is_speculative: false,
        organization_name: 'acme',
        run_app_url: `${base}/app/acme/workspaces/${attributes.name}/runs/${run.id}`,
        run_created_at: run.attributes['created-at'],
        run_created_by: 'owner',
        run_id: run.id,
        run_message: 'why',
        task_result_callback_url: `${base}/api/v2/task-results/${input.taskResultId}/callback`,
        task_result_enforcement_level: 'mandatory',
        task_result_id: input.taskResultId,
        vcs_branch: null,
        vcs_commit_url: null,
        vcs_pull_request_url: null,
        vcs_repo_url: null,
        workspace_app_url: `${base}/app/acme/workspaces/${attributes.name}`,
        workspace_id: workspace,
        workspace_name: attributes.name,
        workspace_working_directory: 'net',
        ...(stage === 'pre_plan'
          ? {}
          : { plan_json_api_url: `${base}/api/v2/plans/${run.relationships.plan.data.id}/json-output` }),
      });
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': `TFC/1.0 (+${base}; TFC)`,
        'x-tfc-task-signature': signatureOf(bytes, 'secret'),
      });
    },
  );

  it('shows that a run is speculative, and that its configuration is missing', async () => {
    const { run, ask } = await asking('pre_plan', { 'plan-only': true }, null);
    const { updateRun } = await import('#resources/runs/records.ts');
    await updateRun(run.id, { set: { configurationVersionId: 'cv-gone' } });
    await ask();
    expect(server.requests[0]?.payload).toMatchObject({
      is_speculative: true,
      configuration_version_download_url: null,
    });
    expect(server.requests[0]?.headers['x-tfc-task-signature']).toBe('');
  });

  it('waits for the callback once the task has accepted the request', async () => {
    const { ask, read } = await asking();
    await ask();
    expect(await read()).toMatchObject({ status: 'running', acknowledgedAt: expect.any(String) });
    expect(told()).toEqual([]);
  });

  it('is retried until the task responds with 200', async () => {
    const { ask, read } = await asking();
    server.answer = (_, response) => response.writeHead(server.requests.length < 3 ? 503 : 200).end();
    await ask();
    expect([server.requests.length, (await read()).status]).toEqual([3, 'running']);
    const bodies = new Set(server.requests.map(({ bytes }) => bytes.toString()));
    expect(bodies.size).toBe(1);
  });

  it('is not sent again when the state is re-entered after the task has accepted it', async () => {
    const { ask, input, read } = await asking();
    await ask();
    await runTask({ ...input, token: 'another' }, pausesMs);
    expect([server.requests.length, (await read()).token]).toEqual([1, 'another']);
  });

  it('ends the wait immediately after the last retry', async () => {
    const { ask, input, read } = await asking();
    server.answer = status(500);
    const began = performance.now();
    await ask([200, 200]);
    expect(performance.now() - began, 'with pauses').toBeGreaterThan(395);
    expect(server.requests).toHaveLength(3);
    expect(await read()).toMatchObject({
      status: 'errored',
      message: 'The run task was called 3 times without success: it answered 500 instead of 200.',
    });
    expect(told()).toEqual([succeeded(input.token)]);
  });

  it('gives up after its timeout', async () => {
    const { defaultPausesMs } = await import('#lifecycle/states/run-task.ts');
    const { functions } = await import('#infra/stack/functions.ts');
    const { defaultLimits } = await import('#platform/net/outbound/send.ts');
    const longestMs = defaultPausesMs.reduce(
      (ms, pauseMs) => ms + pauseMs + defaultLimits.totalMs,
      defaultLimits.totalMs,
    );
    expect(longestMs).toBeLessThan(functions.RunTask.timeoutSeconds * 1000 - 20_000);
  });

  it.each<[string, () => void, string, number]>([
    [
      'redirects to metadata',
      () => Object.assign(server, { answer: status(307, { location: 'http://169.254.169.254/' }) }),
      'reserved address',
      1,
    ],
    ['is inside', () => Object.assign(process.env, { OUTBOUND_ALLOWED_CIDRS: '' }), 'reserved address', 0],
  ])('does not retry a task that %s', async (_, prepare, reason, requests) => {
    const { ask, input, read } = await asking();
    prepare();
    await ask();
    expect(await read()).toMatchObject({ status: 'errored', message: expect.stringContaining(reason) });
    expect(server.requests).toHaveLength(requests);
    expect(told()).toEqual([succeeded(input.token)]);
  });

  it('fails with the reason if the task was deleted', async () => {
    const { ask, task, read } = await asking();
    const { deleteTask } = await import('#resources/run-tasks/records.ts');
    await deleteTask(task);
    await ask();
    expect(await read()).toMatchObject({ status: 'errored', message: expect.stringContaining('was deleted') });
  });

  it('is not sent for a run that was canceled before its token was stored', async () => {
    const { run, ask, input } = await asking();
    await api.call('POST', `runs/${run.id}/actions/cancel`);
    api.aws.sent.length = 0;
    await ask();
    expect(server.requests).toEqual([]);
    expect(told()).toMatchObject([{ action: 'SendTaskFailure', input: { taskToken: input.token, error: 'Canceled' } }]);
  });

  it('is not retried after the run was canceled', async () => {
    const { run, ask, read } = await asking();
    server.answer = async (_, response) => {
      await runs.bring(run.id, { cancel: { by: 'user', at: '', forceAvailableAt: '' } });
      response.writeHead(500).end();
    };
    await ask();
    expect([server.requests.length, (await read()).status, told()]).toEqual([1, 'pending', []]);
  });

  it("can fail, and the task's callback still counts", async () => {
    const { ask, input, read } = await asking();
    server.answer = async ({ payload }, response) => {
      await api.call('PATCH', `task-results/${input.taskResultId}/callback`, {
        token: payload.access_token,
        body: { data: { type: 'task-results', attributes: { status: 'passed' } } },
      });
      response.writeHead(500).end();
    };
    await ask();
    expect([server.requests.length, (await read()).status]).toEqual([1, 'passed']);
    expect(told()).toEqual([succeeded(input.token)]);
  });

  it('is not needed if the task has a result, which a new token gets immediately', async () => {
    const { ask, input } = await asking();
    await ask();
    await results.settleResult(input.taskResultId, 'errored');
    await runTask({ ...input, token: 'another' }, pausesMs);
    expect([server.requests.length, told()]).toEqual([1, [succeeded('another')]]);
    const taskResultId = input.taskResultId.replace(/.$/, '');
    await expect(runTask({ ...input, taskResultId }, [])).rejects.toThrow('has no task result');
    await unanswered({ ...input, taskResultId, error: { Error: 'States.Timeout' } });
  });
});

describe('a run task without a callback', () => {
  const since = async (id: string, seconds: number) => {
    const { update } = await import('#platform/store/table.ts');
    const { keys } = await import('#platform/store/keys.ts');
    const [, run, rest = ''] = /^taskrs-(.{16})(.*)$/.exec(id) ?? [];
    const waitingSince = new Date(Date.now() - seconds * 1000).toISOString();
    await update(keys.taskResult(`run-${run}`, rest), { set: { waitingSince } });
  };

  it.each([
    ['States.HeartbeatTimeout', 600, 'it sent no callback for 10 minutes'],
    ['States.Timeout', 600, 'it sent no callback for 10 minutes'],
    ['States.Timeout', 3599, 'did not finish within 60 minutes'],
    ['Lambda.Unknown', 1, 'could not call the run task (Lambda.Unknown)'],
  ])('ends with %s after %i s: %s', async (name, seconds, message) => {
    const { ask, input, read } = await asking();
    await ask();
    await since(input.taskResultId, seconds);
    await unanswered({ ...input, error: { Error: name } });
    expect(await read()).toMatchObject({ status: 'errored', message: expect.stringContaining(message) });
  });

  it('ends with its limit in seconds if that is no number of minutes', async () => {
    process.env.RUN_TASK_SECONDS = '90';
    const { ask, input, read } = await asking();
    await ask();
    await since(input.taskResultId, 90);
    await unanswered({ ...input, error: { Error: 'States.Timeout' } });
    delete process.env.RUN_TASK_SECONDS;
    expect((await read()).message).toContain('it sent no callback for 90 seconds');
  });

  it('is canceled with its run', async () => {
    const { ask, input, read } = await asking();
    await ask();
    await unanswered({ ...input, error: { Error: 'Canceled', Cause: 'canceled by me' } });
    expect((await read()).status).toBe('canceled');
  });

  it('keeps output written at the last moment', async () => {
    const { ask, input, read } = await asking();
    await ask();
    await results.changeTaskResult(await read(), 'failed', { message: 'no' });
    await unanswered({ ...input, error: { Error: 'States.Timeout' } });
    expect(await read()).toMatchObject({ status: 'failed', message: 'no' });
  });
});
