import { expect, it } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Environments, builds and their logs as clients read them. */

const world = await startEnvironments();
const { appendLog, maxPieceBytes } = await import('#resources/runs/logs.ts');
const { updateRun } = await import('#resources/runs/records.ts');

const day = 24 * 3_600_000;
const get = async (path: string, token = world.api.token) => (await world.call('GET', path, { token })).body;
const statusOf = async (method: string, path: string, body?: object, token = world.api.token) =>
  (await world.call(method, path, { body, token })).status;

it('an environment is shown with its settings, its latest build and its job', async () => {
  const template = await world.addTemplate({ displayName: 'Demo', timeTilDormantAutodeleteMs: day });
  const name = uniqueName('dev');
  // Not within the hour, which would move the deadline.
  const hour = new Date().getUTCHours() < 12 ? 20 : 10;
  const more = { ttl_ms: 3_600_000, autostart_schedule: `CRON_TZ=UTC 0 ${hour} * * *` };
  const { id } = (await world.create(template, { name, ...more })).body;
  const { id: buildId, jobId, runIds } = await world.latest(id);
  const begun = await get(`/workspaces/${id}`);
  expect(begun).toMatchObject({
    id,
    name,
    ...more,
    owner_name: 'owner',
    organization_name: 'acme',
    template_name: template.name,
    template_display_name: 'Demo',
    template_active_version_id: template.activeVersionId,
    template_use_classic_parameter_flow: true,
    template_require_active_version: false,
    automatic_updates: 'never',
    allow_renames: true,
    outdated: false,
    favorite: false,
    is_prebuild: false,
    dormant_at: null,
    deleting_at: null,
    next_start_at: expect.stringContaining(`T${hour}:00:00`),
    health: { healthy: true, failing_agents: [] },
    latest_build: {
      id: buildId,
      workspace_name: name,
      build_number: 1,
      transition: 'start',
      reason: 'initiator',
      status: 'pending',
      initiator_name: 'owner',
      template_version_preset_id: null,
      deadline: null,
      max_deadline: null,
      daily_cost: 0,
      resources: [],
      has_ai_task: false,
      has_external_agent: false,
      matched_provisioners: { count: 1, available: 1 },
      run_id: runIds[0],
      job: {
        id: jobId,
        status: 'pending',
        type: 'workspace_build',
        input: { workspace_build_id: buildId },
        error: '',
        started_at: null,
        completed_at: null,
        canceled_at: null,
        queue_position: 0,
        queue_size: 0,
        available_workers: [],
        logs_overflowed: false,
      },
    },
  });
  await world.end(id);
  const { latest_build: built } = await get(`/workspaces/${id}`);
  expect(built).toMatchObject({ status: 'running', job: { status: 'succeeded', completed_at: expect.any(String) } });
  expect(Date.parse(built.deadline) - Date.parse(built.job.completed_at)).toBe(3_600_000);
  expect(await statusOf('PUT', `/workspaces/${id}/dormant`, { dormant: true })).toBe(200);
  expect(await statusOf('PUT', `/workspaces/${id}/dormant`, { dormant: true }), 'repeated').toBe(304);
  const asleep = await get(`/workspaces/${id}`);
  expect(asleep).toMatchObject({ next_start_at: null, dormant_at: expect.any(String) });
  expect(Date.parse(asleep.deleting_at) - Date.parse(asleep.dormant_at)).toBe(day);
  const { dueAt = '' } = await world.environmentOf(id);
  expect(Math.abs(Date.parse(dueAt) - Date.parse(asleep.deleting_at))).toBeLessThan(1000);
  expect(await statusOf('PUT', `/workspaces/${id}/dormant`, { dormant: false })).toBe(200);
  expect((await get(`/workspaces/${id}`)).dormant_at).toBeNull();
});

it('a list has the environments that fit the search and that the caller may see, favorites and running ones first', async () => {
  const template = await world.addTemplate();
  const person = await world.members.withLevel('acme', 'plan');
  const [running, stopped, favorite] = ['b', 'a', 'c'].map((name) => uniqueName(name)) as [string, string, string];
  const own = [];
  for (const name of [running, stopped, favorite]) own.push(await world.running(template, { name }));
  for (const id of own.slice(1)) {
    await world.built(id, 'stop');
  }
  const others = await world.running(template, { name: uniqueName('d') }, { token: person.token });
  const marked = `/workspaces/${own[2]}/favorite`;
  expect(await statusOf('PUT', marked)).toBe(204);
  expect([
    await statusOf('PUT', marked, {}, person.token),
    await statusOf('PUT', `/workspaces/${others}/favorite`),
  ]).toEqual([404, 403]);
  const { name: theirs, ownerName } = await world.environmentOf(others);
  const search = async (query: string, token?: string) => {
    const { workspaces, count } = await get(`/workspaces?q=template:${template.name}%20${query}`, token);
    const names = workspaces.map(({ name }: { name: string }) => name);
    expect(count).toBe(names.length);
    return names;
  };
  const mine = [favorite, running, stopped];
  expect((await search('')).sort()).toEqual([...mine, theirs].sort());
  for (const [query, expected] of [
    ['owner:me', mine],
    [`owner:${ownerName}`, [theirs]],
    ['owner:unknown-user', []],
    ['owner:prebuilds', []],
    ['owner:me%20status:stopped', [favorite, stopped]],
    [`name:${running.toUpperCase()}`, [running]],
    [running, [running]],
    [`name:"${running}"`, [running]],
    [`${ownerName}/${theirs}`, [theirs]],
    [`owner/${theirs}`, []],
    ['organization:acme%20owner:me', mine],
    ['organization:other', []],
    [`id:${own[0]}`, [running]],
    ['outdated:false%20owner:me', mine],
    ['outdated:true', []],
    ['dormant:false%20owner:me', mine],
    ['dormant:true', []],
  ] as const)
    expect(await search(query), query).toEqual(expected);
  expect(await search('', person.token), 'of others').toEqual([theirs]);
  const page = await get(`/workspaces?q=owner:me%20template:${template.name}&limit=1&offset=1`);
  expect([page.count, page.workspaces[0].name]).toEqual([3, running]);
  expect(await statusOf('DELETE', marked)).toBe(204);
  const { audit_logs: logs } = await get(`/audit?q=resource_id:${own[2]}`);
  const marks = logs.map(({ description }: { description: string }) => description).slice(0, 2);
  expect(marks).toEqual(['owner unfavorite workspace', 'owner favorite workspace']);
  expect(await search('owner:me')).toEqual([running, stopped, favorite]);
  await world.built(own[1] ?? '', 'delete');
  expect(await statusOf('PUT', `/workspaces/${own[1]}/favorite`)).toBe(404);
  expect(await search('owner:me'), 'without deleted ones').toEqual([running, favorite]);
});

it('builds are listed newest first, and read by number', async () => {
  const name = uniqueName('dev');
  const id = await world.running(await world.addTemplate(), { name });
  const { body: stop } = await world.build(id, 'stop');
  const numbers = async (query: string) =>
    (await get(`/workspaces/${id}/builds${query}`)).map((one: { build_number: number }) => one.build_number);
  expect([await numbers(''), await numbers('?limit=1'), await numbers('?offset=1')]).toEqual([[2, 1], [2], [1]]);
  expect(await numbers(`?limit=1&after_id=${stop.id}`)).toEqual([1]);
  const path = `/users/me/workspace/${name}/builds`;
  expect((await get(`${path}/1`)).transition).toBe('start');
  const statuses = [];
  for (const number of ['3', '0', 'x', '1.5']) statuses.push(await statusOf('GET', `${path}/${number}`));
  expect(statuses).toEqual([404, 400, 400, 400]);
  for (const query of ['since=never', 'limit=x'])
    expect(await statusOf('GET', `/workspaces/${id}/builds?${query}`), query).toBe(400);
});

it('a build has the resources of its state, with attributes from its plan, and without agents', async () => {
  const { putObject } = await import('#platform/store/bucket.ts');
  const { objects } = await import('#platform/store/keys.ts');
  const { id } = (await world.create(await world.addTemplate())).body;
  const build = await world.latest(id);
  const path = `/workspacebuilds/${build.id}/resources`;
  expect(await statusOf('GET', path)).toBe(400);
  const values = { daily_cost: 3, hide: true, icon: '/i.svg', item: [{ key: 'k', value: 'v' }] };
  const managed = [
    { address: 'terraform_data.home', type: 'terraform_data', name: 'home' },
    { address: 'coder_metadata.home', type: 'coder_metadata', name: 'home', values },
  ].map((one) => ({ ...one, mode: 'managed' }));
  const expressions = { resource_id: { references: ['terraform_data.home'] } };
  const metadata = { address: 'coder_metadata.home', type: 'coder_metadata', name: 'home', expressions };
  const plan = {
    planned_values: { root_module: { resources: managed } },
    configuration: { root_module: { resources: [metadata] } },
  };
  await putObject(objects.artifact(build.runIds[0] ?? '', 'plan', 'plan-json'), JSON.stringify(plan));
  await world.writeState(id, ['home', 'other']);
  const costEstimate = { status: 'finished' as const, statusTimestamps: {}, proposedMonthlyCost: '45.5' };
  await updateRun(build.runIds[0] ?? '', { set: { costEstimate } });
  const { completedAt: created_at } = await world.end(id);
  const common = { type: 'terraform_data', workspace_transition: 'start', agents: [], created_at };
  expect(await get(path)).toMatchObject([
    {
      ...common,
      name: 'home',
      daily_cost: 3,
      hide: true,
      icon: '/i.svg',
      metadata: [{ key: 'k', value: 'v', sensitive: false }],
    },
    { ...common, name: 'other', daily_cost: 0, hide: false, icon: '', metadata: [] },
  ]);
  expect((await get(`/workspacebuilds/${build.id}`)).daily_cost, 'not the estimate').toBe(3);
  expect(await get(`/workspacebuilds/${build.id}/parameters`)).toEqual([]);
});

it('the log of a build has a stage for each part of its run, with levels and times of Terraform’s output', async () => {
  const { id } = (await world.create(await world.addTemplate())).body;
  const build = await world.latest(id);
  const [runId = ''] = build.runIds;
  const path = `/workspacebuilds/${build.id}/logs`;
  const log = async (query = '') => {
    const entries: Record<string, string>[] = await get(path + query);
    return entries.map(({ stage, log_level, output }) => `${stage} ${log_level} ${output}`.trim());
  };
  expect(await log(), 'before its plan').toEqual(['Setting up info']);
  const at = '2026-01-05T08:00:00.000Z';
  const later = '2026-01-05T08:00:01.000Z';
  const line = (level: string, message: object) =>
    `${JSON.stringify({ '@level': level, '@timestamp': later, '@message': 'x', ...message })}\n`;
  const diagnostic = (severity: string, summary: string) => ({
    type: 'diagnostic',
    diagnostic: { severity, summary, detail: '\nWhy' },
  });
  const text = [
    '\x02Preparing\n\n',
    line('info', { '@message': 'read', type: 'log' }),
    line('error', diagnostic('error', 'No disk')),
    line('warn', diagnostic('warning', 'Old')),
    line('info', { '@message': 'of the debug log' }),
    line('error', { '@message': 'wrong in the debug log' }),
    line('trace', { '@message': 'left out' }),
    '{"@level": cut off\nnull\n',
    `${'x'.repeat(16_000)}\n`,
    'half a l',
  ].join('');
  await appendLog(runId, 'plan', 0, Buffer.from(text.slice(0, 5)));
  await updateRun(runId, { set: { plan: { status: 'running', statusTimestamps: { 'started-at': at } } } });
  await updateRun(runId, { set: { status: 'planning' } });
  expect(await get(`/workspaces/${id}`)).toMatchObject({ latest_build: { status: 'starting' } });
  expect(await log(), 'before its first line').toEqual(['Setting up info']);
  await appendLog(runId, 'plan', 5, Buffer.from(text.slice(5)));
  const stage = 'Planning infrastructure';
  expect(await log()).toEqual([
    'Setting up info',
    `${stage} info`,
    `${stage} info Preparing`,
    `${stage} info read`,
    ...['Error: No disk', '', '', 'Why'].map((output) => `${stage} error ${output}`.trim()),
    ...['Warning: Old', '', '', 'Why'].map((output) => `${stage} warn ${output}`.trim()),
    `${stage} debug of the debug log`,
    `${stage} error wrong in the debug log`,
    `${stage} info {"@level": cut off`,
    `${stage} info null`,
    // In parts that clients can read.
    ...Array(2).fill(`${stage} info ${'x'.repeat(8000)}`),
  ]);
  await appendLog(runId, 'plan', Buffer.byteLength(text), Buffer.from('ine\n\x03'));
  const ended = { status: 'finished', statusTimestamps: { 'started-at': at } };
  await updateRun(runId, { set: { plan: ended, apply: { status: 'unreachable', statusTimestamps: {} } } });
  await updateRun(runId, { set: { endReason: 'no disk' } });
  await world.end(id, 'errored');
  expect((await log()).slice(-3)).toEqual([
    'Planning infrastructure info half a line',
    'Cleaning Up info',
    'Cleaning Up error no disk',
  ]);
  const entries: { id: number; created_at: string; log_source: string }[] = await get(path);
  const ids = entries.map((entry) => entry.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  expect(entries.slice(0, 4).map(({ created_at, log_source }) => [created_at, log_source])).toEqual([
    [build.createdAt, 'provisioner_daemon'],
    [at, 'provisioner_daemon'],
    [at, 'provisioner'],
    [later, 'provisioner'],
  ]);
  const part: { id: number }[] = await get(`${path}?after=${ids[1]}&before=${ids[4]}`);
  expect(part.map((entry) => entry.id)).toEqual(ids.slice(2, 4));
  const followed = await world.call('GET', `${path}?follow&after=${ids[1]}`);
  expect([followed.status, followed.headers.location]).toEqual([307, expect.stringMatching(/^wss:.*\?ticket=[\w-]/)]);
  const { redeemTicket } = await import('#environments/logs/tickets.ts');
  const ticket = new URL(followed.headers.location ?? '').searchParams.get('ticket') ?? '';
  expect(await redeemTicket(ticket)).toEqual({ kind: 'build', jobId: build.id, after: ids[1] });
  expect(await statusOf('GET', `${path}?follow&before=1`)).toBe(400);
});

it('a log that is longer than one read is complete, and leaves out no entry', async () => {
  const { id } = (await world.create(await world.addTemplate())).body;
  const { id: buildId, runIds } = await world.latest(id);
  const lines = Array.from({ length: 6000 }, (_, n) => `line ${n} ${'.'.repeat(40)}`);
  lines.push(`line without an end ${'.'.repeat(300_000)}`);
  const log = Buffer.from(`\x02${lines.join('\n')}\n\x03`);
  for (let at = 0; at < log.length; at += maxPieceBytes)
    await appendLog(runIds[0] ?? '', 'plan', at, log.subarray(at, at + maxPieceBytes));
  const ended = { status: 'finished', statusTimestamps: {} };
  await updateRun(runIds[0] ?? '', { set: { plan: ended, apply: { status: 'unreachable', statusTimestamps: {} } } });
  const entries: { output: string }[] = await get(`/workspacebuilds/${buildId}/logs`);
  const [first, second, ...outputs] = entries.map(({ output }) => output);
  expect([first, second, ...outputs.slice(0, 6000)]).toEqual(['', '', ...lines.slice(0, 6000)]);
  expect(outputs.slice(6000).join(''), 'in pieces').toBe(lines.at(-1));
  expect(outputs).not.toContain('');
});

it('a log of quotes is shortened at its beginning to the size of a response', async () => {
  const { fitting } = await import('#environments/logs/routes.ts');
  const { maxResponseBytes, sizeInResponse } = await import('#api/response-size.ts');
  const entry = (id: number, output = '"'.repeat(1000)) => ({
    id,
    created_at: '2026-01-01T00:00:00.000Z',
    log_level: 'info' as const,
    log_source: 'provisioner' as const,
    stage: 'Planning',
    output,
  });
  const others = Array.from({ length: 1000 }, (_, n) => entry(n + 1));
  const all = (length: number) => [entry(0, 'x'.repeat(length)), ...others];
  const room = maxResponseBytes - sizeInResponse(JSON.stringify(all(0)));
  expect(fitting(all(room))).toHaveLength(1001);
  expect(fitting(all(room + 1))).toEqual(others);
});
