import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { policyFiles, policySetOf } from '#test/support/policies.ts';
import { startEnvironments } from './support.ts';

/** Settings of one environment, and of the versions of its template. */

const world = await startEnvironments();
const hour = 3_600_000;
const begin = Date.parse('2026-01-05T08:00:00Z');
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: begin });
});
afterEach(() => {
  vi.useRealTimers();
});

const set = async (id: string, setting: string, body: object) => {
  const { status, body: answer } = await world.call('PUT', `/workspaces/${id}/${setting}`, { body });
  return [status, answer.message];
};

it('a changed TTL takes effect at the next start, and removing it removes the deadline of a running environment', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  const { deadline } = await world.latest(id);
  expect(deadline).toBe('2026-01-05T09:00:00.000Z');
  expect((await set(id, 'ttl', { ttl_ms: 2 * hour + 59_000 }))[0]).toBe(204);
  expect([(await world.environmentOf(id)).ttlMs, (await world.latest(id)).deadline]).toEqual([2 * hour, deadline]);
  expect((await set(id, 'ttl', { ttl_ms: null }))[0]).toBe(204);
  const { ttlMs, dueAt } = await world.environmentOf(id);
  expect([ttlMs, dueAt, (await world.latest(id)).deadline]).toEqual([undefined, undefined, undefined]);
});

it('a deadline can be moved to 30 minutes from now or later, if the environment has one', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  const at = (ms: number) => new Date(begin + ms).toISOString();
  const extend = (ms: number) => set(id, 'extend', { deadline: at(ms) });
  expect(await extend(hour / 4)).toEqual([400, expect.stringContaining('at least 30 minutes in the future')]);
  expect((await extend(hour))[0], 'the same one').toBe(304);
  expect(await extend(3 * hour)).toEqual([200, `Deadline updated to ${at(3 * hour)}`]);
  expect([(await world.latest(id)).deadline, (await world.environmentOf(id)).dueAt]).toEqual([
    at(3 * hour),
    at(3 * hour),
  ]);
  for (const [deadline, status] of [
    ['tomorrow', 400],
    ['9999-12-31T00:00:00Z', 200],
    ['+010000-01-01T00:00:00Z', 400],
  ])
    expect([deadline, (await set(id, 'extend', { deadline }))[0]]).toEqual([deadline, status]);
  const manual = await world.running(await world.addTemplate());
  expect(await set(manual, 'extend', { deadline: at(hour) })).toEqual([409, 'Workspace shutdown is manual.']);
  await world.build(id, 'start');
  expect(await extend(hour)).toEqual([409, 'Workspace is still building!']);
  await world.end(id);
  await world.build(id, 'stop');
  expect(await extend(hour)).toEqual([409, expect.stringContaining('must be started')]);
});

it('an environment is renamed unless its owner has another one of that name, regardless of case', async () => {
  const template = await world.addTemplate();
  const [first, second] = [uniqueName('dev'), uniqueName('dev')];
  const [id, other] = [await world.running(template, { name: first }), await world.running(template, { name: second })];
  const rename = async (one: string, name: string) =>
    (await world.call('PATCH', `/workspaces/${one}`, { body: { name } })).status;
  expect(await rename(id, second)).toBe(409);
  expect(await rename(id, first.toUpperCase())).toBe(204);
  expect((await world.environmentOf(id)).name).toBe(first.toUpperCase());
  const renamed = uniqueName('dev');
  expect(await rename(id, renamed)).toBe(204);
  expect(await rename(other, first), 'the former name is free').toBe(204);
  expect(await rename(other, renamed)).toBe(409);
  expect((await world.call('GET', `/users/me/workspace/${renamed}`)).body.id).toBe(id);
});

it.each([
  ['ttl', { ttl_ms: hour }, { ttlMs: hour }, { ttl_ms: 1 }],
  [
    'autostart',
    { schedule: 'CRON_TZ=UTC 0 9 * * *' },
    { autostartSchedule: 'CRON_TZ=UTC 0 9 * * *' },
    { schedule: 'at 9' },
  ],
  ['autostart', { schedule: '' }, { autostartSchedule: undefined }, { schedule: 9 }],
  ['autoupdates', { automatic_updates: 'always' }, { automaticUpdates: 'always' }, { automatic_updates: 'perhaps' }],
])(
  'the setting %s is stored as in %j, rejected if it is invalid, and 404 once the environment is deleted',
  async (...row) => {
    const [setting, body, stored, invalid] = row;
    const id = await world.running(await world.addTemplate(), { autostart_schedule: 'CRON_TZ=UTC 0 8 * * *' });
    expect((await set(id, setting, body))[0]).toBe(204);
    const { ttlMs, autostartSchedule, automaticUpdates } = await world.environmentOf(id);
    expect({ ttlMs, autostartSchedule, automaticUpdates }).toMatchObject(stored);
    expect((await set(id, setting, invalid))[0]).toBe(400);
    await world.built(id, 'delete');
    expect((await set(id, setting, invalid))[0]).toBe(404);
  },
);

it.each([
  ['PATCH', '', { name: 'renamed' }],
  ['PUT', '/ttl', { ttl_ms: hour }],
  ['PUT', '/autoupdates', { automatic_updates: 'always' }],
  ['PUT', '/dormant', { dormant: true }],
  ['POST', '/usage', {}],
])('%s …%s is 404 unless it was stored before the environment was deleted', async (method, path, body) => {
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#environments/keys.ts');
  const { aws } = world.api;
  const template = await world.addTemplate();
  const id = await world.running(template);
  const before = await world.environmentOf(id);
  for (let calls = 0; ; calls++) {
    vi.setSystemTime(Date.now() + 1);
    let left = calls;
    aws.gate = async () => {
      if (left-- > 0) return;
      aws.gate = undefined;
      await update(keys.environment(id), { set: { deletedAt: 'now' } });
    };
    const { status } = await world.call(method, `/workspaces/${id}${path}`, { body });
    const after = await update(keys.environment(id), { remove: ['deletedAt'] });
    if (status === 404) expect([calls, after]).toEqual([calls, before]);
    else return expect([calls > 5, after]).not.toEqual([calls > 5, before]);
    // The name is free.
    if ('name' in body) await world.built(await world.running(template, body), 'delete');
  }
});

it('a build is a run that applies automatically, with the variables that the provider of Coder reads', async () => {
  const template = await world.addTemplate();
  const name = uniqueName('provided');
  const { body } = await world.create(template, { name });
  const build = await world.latest(body.id);
  expect(await world.runOf(build)).toMatchObject({
    autoApply: true,
    planOnly: false,
    isDestroy: false,
    structuredOutput: true,
    source: 'tfe-api',
    createdBy: world.api.userId,
    environment: `build ${build.id}`,
    message: expect.stringContaining(`start: build 1 of owner/${name} with `),
  });
  expect(await world.inputsOf(body.id)).toMatchObject({
    CODER_AGENT_URL: 'https://environments.example.test',
    CODER_WORKSPACE_TRANSITION: 'start',
    CODER_WORKSPACE_ID: body.id,
    CODER_WORKSPACE_NAME: name,
    CODER_WORKSPACE_BUILD_ID: build.id,
    CODER_WORKSPACE_OWNER: 'owner',
    CODER_WORKSPACE_OWNER_EMAIL: 'owner@acme.test',
    CODER_WORKSPACE_OWNER_ID: body.owner_id,
    CODER_WORKSPACE_OWNER_GROUPS: '["Everyone"]',
    CODER_WORKSPACE_TEMPLATE_ID: template.id,
    CODER_WORKSPACE_TEMPLATE_NAME: template.name,
    CODER_AGENT_SCRIPT_linux_amd64: '#',
  });
  for (const [transition, told] of [
    ['stop', 'stop'],
    ['delete', 'destroy'],
  ] as const) {
    await world.end(body.id);
    await world.build(body.id, transition);
    expect((await world.inputsOf(body.id)).CODER_WORKSPACE_TRANSITION).toBe(told);
  }
  expect(await world.runOf(await world.latest(body.id))).toMatchObject({ isDestroy: true });
});

it('the audit trail records a failed or canceled build as a failure', async () => {
  const statusesOf = async (status: 'applied' | 'errored' | 'canceled') => {
    const answer = await world.create(await world.addTemplate());
    const { runIds, id } = await world.latest(answer.body.id);
    const { updateRun } = await import('#resources/runs/records.ts');
    for (const runId of runIds) await updateRun(runId, { set: { endReason: status === 'errored' ? 'no disk' : '' } });
    await world.end(answer.body.id, status);
    const { body } = await world.call('GET', '/audit?limit=100&q=resource_type:workspace_build');
    return body.audit_logs
      .filter((log: { resource_id: string }) => log.resource_id === id)
      .map(({ status_code }: { status_code: number }) => status_code);
  };
  expect(await statusesOf('applied')).toEqual([200]);
  for (const status of ['errored', 'canceled'] as const) expect(await statusesOf(status)).toEqual([500]);
});

it('a build is checked by the run tasks and policy sets of its template', async () => {
  const template = await world.addTemplate();
  const { createTask } = await import('#resources/run-tasks/records.ts');
  const { createWorkspaceTask } = await import('#resources/run-tasks/workspace-tasks.ts');
  const global = { enabled: false, stages: ['pre_plan' as const], enforcementLevel: 'advisory' as const };
  const url = 'https://task.example.test';
  const task = await createTask('acme', { name: 'checks', url, description: null, enabled: true, global });
  await createWorkspaceTask(template.workspaceId, task?.id ?? '', {
    stages: ['pre_plan'],
    enforcementLevel: 'mandatory',
  });
  const workspaces = { workspaces: { data: [{ type: 'workspaces', id: template.workspaceId }] } };
  await policySetOf(world.api, {}, policyFiles('deny := []'), workspaces);
  const { body } = await world.create(template);
  const { checks } = await world.runOf(await world.latest(body.id));
  expect(checks).toMatchObject({
    policyEvaluation: true,
    tasks: { pre_plan: { taskResultIds: [expect.any(String)] } },
  });
  const plain = (await world.create(await world.addTemplate())).body.id;
  expect((await world.runOf(await world.latest(plain))).checks, 'of another template').toBeUndefined();
});
