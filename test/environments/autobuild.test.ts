import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEnvironments } from './support.ts';

/** Scheduled actions of the platform; the test controls the clock. */

const world = await startEnvironments();
const { keys } = await import('#environments/keys.ts');
const { putFound } = await import('#environments/templates/versions.ts');
const { dueIn, dueShard, dueShards } = await import('#platform/store/due.ts');
const { query, remove, update } = await import('#platform/store/table.ts');
const { lookAt } = await import('#environments/workspaces/executor.ts');

const minute = 60_000;
const hour = 60 * minute;
// A Monday.
const begin = Date.parse('2026-01-05T08:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: begin });
});
afterEach(() => {
  vi.useRealTimers();
});

const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

/** Handles everything that is due now, like the sweep, or of that one environment alone. */
const sweep = async (only?: string): Promise<void> => {
  const { handler } = await import('#environments/sweep-handler.ts');
  const to = new Date().toISOString();
  for (let n = 0; n < dueShards; n++) {
    const due = await query<{ pk: string; sk: string }>({ pk: dueShard(n), to, index: 'due' });
    const isMeant = ({ pk, sk }: { pk: string; sk: string }) =>
      only ? pk === keys.environment(only).pk && sk === 'ENV' : sk === 'ENV' || sk === 'TPL';
    await handler({ due: due.filter(isMeant) });
  }
};

const seen = async (id: string) => {
  const { transition, reason, number } = await world.latest(id);
  return { transition, reason, number };
};

describe('autostop', () => {
  it('stops at the deadline, once, and not before', async () => {
    const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
    later(hour - 2 * minute);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'start', number: 1 });
    later(2 * minute);
    await sweep();
    await sweep();
    expect(await seen(id)).toEqual({ transition: 'stop', reason: 'autostop', number: 2 });
    expect((await world.environmentOf(id)).lastUsedAt, 'the stop is no use').toBe(new Date(begin).toISOString());
    expect((await world.end(id)).deadline).toBeUndefined();
  });

  it('stops at the template’s required stop at the latest, and refuses to extend beyond it', async () => {
    const template = await world.addTemplate({ autostopDays: ['tuesday'], autostopWeeks: 1 });
    const id = await world.running(template, { ttl_ms: 48 * hour });
    expect(await world.latest(id)).toMatchObject({
      deadline: '2026-01-06T00:00:00.000Z',
      maxDeadline: '2026-01-06T00:00:00.000Z',
    });
    // As text, a year of six digits sorts before all others.
    for (const deadline of ['2026-01-06T01:00:00Z', '+010000-01-01T00:00:00Z']) {
      const extended = await world.call('PUT', `/workspaces/${id}/extend`, { body: { deadline } });
      expect(extended).toMatchObject({
        status: 400,
        body: { message: 'Cannot extend workspace beyond max deadline.' },
      });
    }
    const same = await world.call('PUT', `/workspaces/${id}/extend`, { body: { deadline: '2026-01-06T00:00:00Z' } });
    expect(same.status).toBe(304);
  });

  it('waits longer when the environment is used', async () => {
    const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
    later(50 * minute);
    expect((await world.call('POST', `/workspaces/${id}/usage`)).status).toBe(204);
    const deadline = new Date(begin + 110 * minute).toISOString();
    expect([(await world.latest(id)).deadline, (await world.environmentOf(id)).dueAt]).toEqual([deadline, deadline]);
    later(20 * minute);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'start' });
  });
});

describe('a restart', () => {
  const restarted = async (restart: object, more: object = {}) => {
    const template = await world.addTemplate();
    const size = { name: 'size', type: 'string', defaultValue: 'big', options: [], mutable: true };
    await putFound(template.activeVersionId, { parameters: [size as never], presets: [], start: [], stop: [] });
    const id = await world.running(template);
    const sent = await world.call('POST', `/workspaces/${id}/builds`, {
      body: { transition: 'stop', restart, ...more },
    });
    return { id, sent };
  };

  it('starts the environment again once the requested stop has succeeded', async () => {
    const small = [{ name: 'size', value: 'small' }];
    const { id, sent } = await restarted({ rich_parameter_values: small, reason: 'dashboard' });
    expect(sent.body).toMatchObject({ transition: 'stop', restarts: true });
    await sweep();
    expect(await seen(id), 'it is still stopping').toMatchObject({ transition: 'stop' });
    await world.end(id);
    await sweep();
    expect(await seen(id)).toEqual({ transition: 'start', reason: 'dashboard', number: 3 });
    expect(await world.latest(id)).toMatchObject({ parameters: small });
    await world.end(id);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'start', number: 3 });
  });

  it('starts at once when the run of the stop has ended', async () => {
    const { handler } = await import('#environments/sweep-handler.ts');
    const { handler: succeeded } = await import('#lifecycle/phases/run-applied.ts');
    const { id } = await restarted({});
    const [runId = ''] = (await world.latest(id)).runIds;
    world.api.aws.invoked.length = 0;
    await succeeded({ detail: { name: runId } });
    expect(world.api.aws.invoked).toEqual([{ name: 'EnvironmentSweepFunction', event: { runId } }]);
    await handler({ runId });
    expect(await seen(id), 'it is still stopping').toMatchObject({ transition: 'stop' });
    await world.end(id);
    await handler({ runId });
    await handler({ runId });
    expect(await seen(id)).toMatchObject({ transition: 'start', number: 3 });
  });

  it('is checked before the environment stops', async () => {
    const { id, sent } = await restarted({ template_version_id: '6f1ed002-ab5c-4a2b-9c0b-000000000000' });
    expect(sent.status).toBe(400);
    expect(await seen(id)).toMatchObject({ transition: 'start', number: 1 });
    const start = { transition: 'start', restart: {} };
    expect((await world.call('POST', `/workspaces/${id}/builds`, { body: start })).body.message).toContain(
      'only permitted when stopping',
    );
  });

  it('does not follow a stop that failed', async () => {
    const { id } = await restarted({});
    await world.end(id, 'errored');
    later(hour);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'stop', number: 2 });
  });
});

describe('autostart', () => {
  it('starts at its time with the version that automatic updates require, and catches up on a missed start', async () => {
    const template = await world.addTemplate();
    const schedule = { autostart_schedule: 'CRON_TZ=UTC 30 9 * * Mon-Fri', automatic_updates: 'always' };
    const id = await world.running(template, schedule);
    await world.built(id, 'stop');
    const { updateTemplate } = await import('#environments/templates/records.ts');
    const activeVersionId = await world.addVersion(template);
    await updateTemplate(template, { activeVersionId });
    const size = { name: 'size', type: 'string', defaultValue: 'big', options: [] };
    await putFound(activeVersionId, { parameters: [size as never], presets: [], start: [], stop: [] });
    later(hour);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'stop' });
    later(3 * hour);
    await sweep();
    expect(await seen(id)).toEqual({ transition: 'start', reason: 'autostart', number: 3 });
    const parameters = [{ name: 'size', value: 'big' }];
    expect(await world.latest(id)).toMatchObject({ versionId: activeVersionId, parameters });
    await world.end(id);
    await world.built(id, 'stop');
    const zone = { ...size, name: 'zone', required: true };
    await putFound(activeVersionId, { parameters: [zone as never], presets: [], start: [], stop: [] });
    later(24 * hour);
    await sweep();
    expect(await world.latest(id), 'Terraform rejects the values').toMatchObject({ number: 5, parameters });
  });

  /** A stopped environment that starts at nine. */
  const stopped = async (owner: { token: string }) => {
    const template = await world.addTemplate();
    const compute = { type: 'terraform_data', name: 'compute', hide: false, icon: '', dailyCost: 5, metadata: [] };
    await putFound(template.activeVersionId, { parameters: [], presets: [], start: [compute], stop: [] });
    const { token } = owner;
    const id = await world.running(template, {}, { token });
    await world.built(id, 'stop');
    await world.call('PUT', `/workspaces/${id}/autostart`, { token, body: { schedule: 'CRON_TZ=UTC 0 9 * * *' } });
    return id;
  };
  const isNotStarted = async (id: string) => {
    later(2 * hour);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'stop', number: 2 });
    expect((await world.environmentOf(id)).dueAt).toBe('2026-01-06T09:00:00.000Z');
  };

  it('does not start an environment without owner, and retries the next day', async () => {
    const member = await world.members.withLevel('acme', 'write');
    const id = await stopped(member);
    const { joinTeam, leaveTeam } = await import('#resources/users/memberships.ts');
    await leaveTeam(member.team, member.id);
    // Seeing the project is not enough.
    await joinTeam((await world.members.withLevel('acme', 'read')).team, member.id);
    await isNotStarted(id);
  });

  it('does not start beyond the owner’s quota, and retries at its next time', async () => {
    const member = await world.members.withLevel('acme', 'write');
    const id = await stopped(member);
    const { uuidOf } = await import('#environments/host/uuid.ts');
    const path = `/organizations/acme/members/${uuidOf(member.id)}/workspace-quota`;
    await world.call('PUT', path, { body: { budget: 4 } });
    await isNotStarted(id);
    await world.call('PUT', path, { body: { budget: 5 } });
    later(24 * hour);
    await sweep();
    expect(await seen(id)).toEqual({ transition: 'start', reason: 'autostart', number: 3 });
  });
});

describe('dormancy', () => {
  it('stops and marks unused environments, deletes them later, and ends with a start', async () => {
    const template = await world.addTemplate({ timeTilDormantMs: 24 * hour, timeTilDormantAutodeleteMs: 48 * hour });
    const [left, woken] = [await world.running(template), await world.running(template)];
    later(25 * hour);
    await sweep();
    for (const id of [left, woken]) {
      expect(await seen(id)).toEqual({ transition: 'stop', reason: 'dormancy', number: 2 });
      await world.end(id);
    }
    const shown = (await world.call('GET', `/workspaces/${left}`)).body;
    expect(shown).toMatchObject({
      dormant_at: new Date(begin + 25 * hour).toISOString(),
      deleting_at: new Date(begin + 73 * hour).toISOString(),
    });
    await world.built(woken, 'start');
    expect((await world.environmentOf(woken)).dormantAt).toBeUndefined();
    later(49 * hour);
    await sweep();
    expect(await seen(left)).toEqual({ transition: 'delete', reason: 'autodelete', number: 3 });
    expect((await seen(woken)).transition).not.toBe('delete');
    await world.end(left);
    expect((await world.environmentOf(left)).dueAt).toBeUndefined();
  });

  it('marks stopped environments without a build, and follows a changed template', async () => {
    const template = await world.addTemplate();
    const id = await world.running(template);
    await world.built(id, 'stop');
    const changed = await world.call('PATCH', `/templates/${template.id}`, { body: { time_til_dormant_ms: hour } });
    expect(changed.status).toBe(200);
    later(2 * hour);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'stop', number: 2 });
    await world.built(id, 'stop');
    expect((await world.environmentOf(id)).dormantAt).toBeDefined();
  });
});

it.each(['a locked', 'a drained', 'a broken'])(
  'the sweep checks %s environment again later, after the others',
  async (kind) => {
    const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
    const { lockWorkspace } = await import('#lifecycle/queue/locks.ts');
    const { handler: drain } = await import('#lifecycle/drain/handler.ts');
    if (kind === 'a locked') await lockWorkspace((await world.environmentOf(id)).workspaceId, world.api.userId, 'mine');
    if (kind === 'a drained') await drain({ action: 'start', reason: 'upgrade' });
    if (kind === 'a broken') await remove(keys.version((await world.latest(id)).versionId));
    vi.spyOn(console, 'error').mockImplementation(() => {});
    later(2 * hour);
    await lookAt(id);
    vi.restoreAllMocks();
    await drain({ action: 'resume' });
    expect(await seen(id)).toMatchObject({ transition: 'start' });
    const minutes = kind === 'a broken' ? 10 : 1;
    expect((await world.environmentOf(id)).dueAt).toBe(new Date(Date.now() + minutes * minute).toISOString());
  },
);

it('the sweep continues a build that was interrupted at any call, unless it had not begun', async () => {
  const { aws } = world.api;
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const template = await world.addTemplate();
  const numbers: number[] = [];
  for (let n = 1; ; n++) {
    const id = await world.running(template);
    aws.failCall(n, 'before');
    await world.build(id, 'stop');
    if (aws.pendingFault) break;
    later(2 * minute);
    // The environments of earlier interruptions are due, too.
    await sweep(id);
    const { activeBuildId, dueAt, buildNumber } = await world.environmentOf(id);
    if (activeBuildId) expect([n, dueAt]).toEqual([n, new Date(Date.now() + minute).toISOString()]);
    expect([n, (await world.end(id)).completedAt]).toEqual([n, expect.any(String)]);
    numbers.push(buildNumber);
    expect([n, (await world.build(id, 'start')).status]).toEqual([n, 201]);
  }
  aws.failCall(0, 'before');
  vi.restoreAllMocks();
  expect(numbers).toEqual([...numbers].sort());
  expect(new Set(numbers)).toEqual(new Set([1, 2]));
});

it('the end of a deletion is recorded although any of its calls failed once', async () => {
  const { getWorkspace } = await import('#resources/workspaces/records.ts');
  const { aws } = world.api;
  const template = await world.addTemplate();
  for (let n = 1, isOver = false; !isOver; n++) {
    const name = `deleted-${n}`;
    const id = await world.running(template, { name });
    await world.build(id, 'delete');
    aws.failCall(n, 'before');
    await world.end(id).catch(() => {});
    isOver = aws.pendingFault;
    aws.failCall(0, 'before');
    expect([n, (await world.end(id)).completedAt]).toEqual([n, expect.any(String)]);
    expect([n, await getWorkspace((await world.environmentOf(id)).workspaceId)]).toEqual([n, undefined]);
    expect([n, (await world.create(template, { name })).status]).toEqual([n, 201]);
  }
});

it('the sweep frees an environment that an interrupted request has held', async () => {
  const id = await world.running(await world.addTemplate());
  await update(keys.environment(id), { set: { activeBuildId: 'state x', ...dueIn(id, 60) } });
  await lookAt(id);
  const { activeBuildId, dueAt, dueShard } = await world.environmentOf(id);
  expect([activeBuildId, dueAt, dueShard]).toEqual([undefined, undefined, undefined]);
});

it('a build whose run does not exist yet cannot be canceled', async () => {
  const id = await world.running(await world.addTemplate());
  const { id: buildId } = await world.latest(id);
  await update(keys.build(buildId), { set: { runIds: ['run-none'] }, remove: ['completedAt'] });
  const { status, body } = await world.call('PATCH', `/workspacebuilds/${buildId}/cancel`);
  expect([status, body.message]).toEqual([409, 'The build is being started. Try again.']);
  expect((await world.call('GET', '/workspaces?q=status:pending')).status).toBe(200);
});

it('an environment is built once under concurrent checks', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  later(2 * hour);
  await Promise.all([lookAt(id), lookAt(id), lookAt(id), lookAt('of no environment')]);
  const builds = world.api.aws.items().filter(({ sk, environmentId }) => sk === 'ENVBUILD' && environmentId === id);
  expect(builds).toHaveLength(2);
  expect(await seen(id)).toMatchObject({ transition: 'stop', number: 2 });
});

it('scheduled builds are recorded in the audit trail', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  later(2 * hour);
  await sweep();
  later(minute);
  await world.end(id);
  const { name } = await world.environmentOf(id);
  const query = `resource_type:workspace_build action:stop resource_target:${name}`;
  const answer = await world.call('GET', `/audit?q=${encodeURIComponent(query)}`);
  expect(answer.body).toMatchObject({
    count: 1,
    audit_logs: [
      {
        action: 'stop',
        status_code: 200,
        user: { username: 'owner' },
        additional_fields: { workspace_name: name, build_number: '2', build_reason: 'autostop' },
      },
    ],
  });
  expect(JSON.stringify(answer.body)).not.toContain('lineage');
  const { token } = await world.members.withLevel('acme', 'admin');
  expect((await world.call('GET', '/audit', { token })).status).toBe(403);
  expect((await world.call('GET', '/audit?q=nothing:x')).status).toBe(400);
  expect((await world.call('GET', '/audit?q=date_from:never')).status).toBe(400);
  const logs = async (search: string) =>
    (await world.call('GET', `/audit?q=${encodeURIComponent(`resource_target:${name} ${search}`)}`)).body.audit_logs;
  const [end] = await logs('build_reason:autostop username:owner organization:acme');
  expect(end).toMatchObject({
    ip: '',
    description: 'owner stop workspace build',
    time: new Date().toISOString(),
    request_id: (await world.latest(id)).jobId,
    diff: { template_version_id: { old: '', secret: false } },
    is_deleted: false,
    user: { username: 'owner' },
    organization: { name: 'acme' },
  });
  expect(await logs(`resource_id:${end.resource_id} request_id:${end.request_id} date_to:${end.time}`)).toHaveLength(1);
  const before = `date_to:${new Date(Date.parse(end.time) - 1).toISOString()}`;
  for (const search of ['username:unknown', 'organization:other', 'action:start', before, 'request_id:x'])
    expect((await logs(`build_reason:autostop ${search}`)).length, search).toBe(0);
  expect(await logs('date_from:2026-01-05 date_to:2026-01-05 build_reason:autostop')).toHaveLength(1);
  const [made] = (await world.call('GET', '/audit?q=resource_type:workspace%20action:create')).body.audit_logs;
  expect([made.ip, made.action, made.status_code]).toEqual(['192.0.2.1', 'create', 200]);
  expect((await world.call('GET', `/workspaces/${made.resource_id}`)).status, 'the created one').toBe(200);
  expect(made.request_id, 'clients parse it').toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});
