import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { OtlpReceiver, type ReceivedSpan, textOf, treeOf } from '#test/support/otlp-receiver.ts';
import { status } from '#test/support/task-server.ts';
import { PlatformProcess } from './support/platform.ts';
import { passes, startServer } from './support/run-tasks.ts';
import { Client, isFinalRun, type Resource, until } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** Traces of runs on a separate platform, received by an HTTP server. */

const callerTrace = '0af7651916cd43dd8448eb211c80319c';
const callerSpan = 'b7ad6b7169203331';

describe('a platform with a receiver of traces', () => {
  let receiver: OtlpReceiver;
  let platform: PlatformProcess;
  let client: Client;
  beforeAll(async () => {
    receiver = await OtlpReceiver.start();
    platform = await PlatformProcess.start({
      STEPFORM_OTLP_ENDPOINT: `${receiver.url}/`,
      STEPFORM_OTLP_HEADERS: 'x-api-key=a%20secret',
    });
    client = new Client(platform.local.url, platform.local.token);
  });
  afterAll(async () => {
    await platform.remove();
    await receiver.close();
  });

  const prepare = async (main: string) => {
    const workspace = await client.createWorkspace(platform.local.organization, newName());
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    return { workspace, version };
  };
  const start = async (main: string, attributes: Record<string, unknown> = { 'auto-apply': true }) => {
    const { workspace, version } = await prepare(main);
    return client.createRun(workspace.id, attributes, version.id);
  };
  const ended = (run: Resource) => client.waitForRun(run.id, isFinalRun);
  const traceOf = async (run: Resource): Promise<ReceivedSpan[]> =>
    (await until(async () => receiver.spansOf(run.id), Boolean)) ?? [];
  const rootIn = (spans: ReceivedSpan[]) => spans.find(({ parentSpanId }) => !parentSpanId) as ReceivedSpan;
  const logLines = (): Record<string, unknown>[] => {
    const folder = join(platform.dataDir, 'logs');
    const files = readdirSync(folder).filter((name) => name !== 'platform.log' && !name.startsWith('runner-'));
    const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  };
  const runnerLogs = () => {
    const folder = join(platform.dataDir, 'logs');
    const files = readdirSync(folder).filter((name) => name.startsWith('runner-'));
    return files.map((name) => readFileSync(join(folder, name), 'utf8')).join('');
  };

  it('prints where traces go', () => {
    expect(platform.output).toContain(`traces ${receiver.url}/v1/traces`);
  });

  let run: Resource;
  it('sends the whole tree of an applied run, from the request to the calls of providers', async () => {
    const server = await startServer();
    server.answer = async (request, answer) => {
      status(200)(request, answer);
      if (request.payload.access_token !== 'test-token') await passes(request.payload);
    };
    const task = await client.create(`/organizations/${platform.local.organization}/tasks`, 'tasks', {
      name: newName('task'),
      url: server.url,
      category: 'task',
    });
    const main = `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo context=$TRACEPARENT headers=$OTEL_EXPORTER_OTLP_HEADERS && sleep 1"
  }
}`;
    const { workspace, version } = await prepare(main);
    await client.create(
      `/workspaces/${workspace.id}/tasks`,
      'workspace-tasks',
      {
        'enforcement-level': 'mandatory',
        stages: ['pre_apply'],
      },
      { task: { data: { type: 'tasks', id: task.id } } },
    );
    const response = await fetch(`${platform.local.url}/api/v2/runs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${platform.local.token}`,
        'content-type': 'application/vnd.api+json',
        traceparent: `00-${callerTrace}-${callerSpan}-01`,
      },
      body: JSON.stringify({
        data: {
          type: 'runs',
          attributes: { 'auto-apply': true },
          relationships: {
            workspace: { data: { type: 'workspaces', id: workspace.id } },
            'configuration-version': { data: { type: 'configuration-versions', id: version.id } },
          },
        },
      }),
    });
    run = ((await response.json()) as { data: Resource }).data;
    expect((await ended(run)).attributes.status).toBe('applied');
    const spans = await traceOf(run);
    const tree = treeOf(spans);
    for (const path of [
      'POST /api/v2/runs',
      'pending',
      'plan_queued',
      'planning',
      'planning > binary',
      'planning > download',
      'planning > init',
      'planning > plan',
      'pre_apply_running',
      `pre_apply_running > run task ${task.attributes.name}`,
      'apply_queued',
      'applying',
      'applying > apply',
      'applying > apply > create terraform_data.a',
    ])
      expect(tree).toContain(path);
    const root = rootIn(spans);
    expect(root.traceId).toBe(createHash('sha256').update(run.id).digest('hex').slice(0, 32));
    expect(root.links).toMatchObject([{ traceId: callerTrace, spanId: callerSpan }]);
    expect(textOf(root, 'cicd.pipeline.result')).toBe('success');
    const [created] = spans.filter(({ name }) => name === 'create terraform_data.a');
    const tookMs = (Number(created?.endTimeUnixNano) - Number(created?.startTimeUnixNano)) / 1e6;
    expect(tookMs).toBeGreaterThan(900);
    const { headers, path } = receiver.received[0] ?? {};
    expect([path, headers?.['x-api-key'], headers?.['content-type']]).toEqual([
      '/v1/traces',
      'a secret',
      'application/json',
    ]);
    // The run's own programs can continue the trace, and get nothing else of it.
    const applying = spans.find(({ name }) => name === 'applying');
    const url = (await client.phase(run, 'apply')).attributes['log-read-url'];
    const log = await (await fetch(url)).text();
    expect(log).toContain(`context=00-${root.traceId}-${applying?.spanId}-01 headers=`);
    expect(log).not.toContain('a secret');
  });

  it('logs the request, the run and its trace in every line about a run', async () => {
    const traceId = createHash('sha256').update(run.id).digest('hex').slice(0, 32);
    // The files may be written after the response.
    const lines = await until(
      async () => logLines(),
      (all) => all.some(({ runId, status }) => runId === run.id && status === 'applied'),
    );
    expect(lines.filter(({ requestId }) => !requestId)).toEqual([]);
    const own = lines.filter((line) => JSON.stringify(line).includes(run.id));
    for (const line of own) expect(line).toMatchObject({ runId: run.id, traceId, requestId: expect.any(String) });
    expect(own.map(({ message, status }) => `${message}: ${status ?? ''}`)).toEqual(
      expect.arrayContaining(['run created: ', 'run status: planning', 'run status: applying', 'run status: applied']),
    );
    expect(runnerLogs()).toContain(`"runId":"${run.id}","traceId":"${traceId}"`);
  });

  it('sends the tree of a failed run, with the place of the failure', async () => {
    const run = await start('resource "terraform_data" "a" {\n  input = nothing\n}');
    expect((await ended(run)).attributes.status).toBe('errored');
    const spans = await traceOf(run);
    expect(treeOf(spans)).toEqual(expect.arrayContaining(['planning', 'planning > plan']));
    expect(textOf(rootIn(spans), 'cicd.pipeline.result')).toBe('failure');
    const failed = spans.filter(({ status }) => status?.code === 2).map(({ name }) => name);
    expect(failed).toEqual([rootIn(spans).name, 'planning']);
  });

  it('sends the tree of a failed apply, with the resource that failed', async () => {
    const run = await start(
      'resource "terraform_data" "a" {\n  provisioner "local-exec" {\n    command = "exit 3"\n  }\n}',
    );
    expect((await ended(run)).attributes.status).toBe('errored');
    const spans = await traceOf(run);
    treeOf(spans);
    const failed = spans.filter(({ status }) => status?.code === 2).map(({ name }) => name);
    expect(failed).toEqual([rootIn(spans).name, 'applying', 'create terraform_data.a']);
  });

  it('sends the tree of a run that was canceled while it applied', async () => {
    const run = await start(resources(['a'], 600));
    await client.waitForRun(run.id, (now) => now.attributes.status === 'applying' || isFinalRun(now));
    await client.act(run.id, 'cancel');
    expect((await ended(run)).attributes.status).toBe('canceled');
    const spans = await traceOf(run);
    expect(treeOf(spans)).toContain('applying');
    const root = rootIn(spans);
    expect(textOf(root, 'cicd.pipeline.result')).toBe('cancellation');
    expect(root.events?.map(({ name }) => name)).toContain('cancel requested');
    expect(root.status).toBeUndefined();
  });

  it('names a dead receiver in the log once, while runs are not affected, and sends traces when it is back', async () => {
    const complaints = () => logLines().filter(({ message }) => message === 'traces are not delivered');
    await receiver.close();
    const plan = async () => ended(await start(resources(['a']), { 'plan-only': true }));
    const statuses = [await plan(), await plan()].map(({ attributes }) => attributes.status);
    expect(statuses).toEqual(['planned_and_finished', 'planned_and_finished']);
    await until(async () => complaints().length, Boolean);
    expect(complaints()).toMatchObject([
      { level: 'warn', url: `${receiver.url}/v1/traces`, reason: 'the connection was refused' },
    ]);
    await receiver.open();
    expect(treeOf(await traceOf(await plan()))).toContain('planning > plan');
    expect(complaints()).toHaveLength(1);
  });
});
