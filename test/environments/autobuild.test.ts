import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEnvironments } from './support.ts';

/** Scheduled actions of the platform; the test controls the clock. */

const world = await startEnvironments();
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

/** Handles everything that is due now, like the sweep. */
const sweep = async (): Promise<void> => {
  const { handler } = await import('#environments/sweep-handler.ts');
  const { query } = await import('#platform/store/table.ts');
  const { dueShard, dueShards } = await import('#platform/store/due.ts');
  const to = new Date().toISOString();
  for (let n = 0; n < dueShards; n++) {
    const due = await query<{ pk: string; sk: string }>({ pk: dueShard(n), to, index: 'due' });
    await handler({ due: due.filter(({ sk }) => sk === 'ENV' || sk === 'TPL') });
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
    later(3 * minute);
    await sweep();
    await sweep();
    expect(await seen(id)).toEqual({ transition: 'stop', reason: 'autostop', number: 2 });
    expect((await world.environmentOf(id)).lastUsedAt, 'the stop is no use').toBe(new Date(begin).toISOString());
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
  });

  it('waits longer when the environment is used', async () => {
    const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
    later(50 * minute);
    expect((await world.call('POST', `/workspaces/${id}/usage`)).status).toBe(204);
    expect((await world.latest(id)).deadline).toBe(new Date(begin + 110 * minute).toISOString());
    later(20 * minute);
    await sweep();
    expect(await seen(id)).toMatchObject({ transition: 'start' });
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
    const { putFound } = await import('#environments/templates/versions.ts');
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
  });

  /** A stopped environment that starts at nine. */
  const stopped = async (owner: { token: string }) => {
    const template = await world.addTemplate();
    const { putFound } = await import('#environments/templates/versions.ts');
    const compute = { type: 'terraform_data', name: 'compute', hide: false, icon: '', dailyCost: 5, metadata: [] };
    await putFound(template.activeVersionId, { parameters: [], presets: [], start: [compute], stop: [] });
    const { token } = owner;
    const id = await world.running(template, { autostart_schedule: 'CRON_TZ=UTC 0 9 * * *' }, { token });
    await world.built(id, 'stop');
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
  });

  it('marks stopped environments without a build, and follows a changed template', async () => {
    const template = await world.addTemplate();
    const id = await world.running(template);
    await world.built(id, 'stop');
    const changed = await world.call('PATCH', `/templates/${template.id}`, { body: { time_til_dormant_ms: hour } });
    expect(changed.status).toBe(200);
    later(2 * hour);
    await sweep();
    expect((await world.environmentOf(id)).dormantAt).toBeDefined();
    expect(await seen(id)).toMatchObject({ transition: 'stop', number: 2 });
  });
});

it('the sweep checks a locked environment again later, after the others', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  const { lockWorkspace } = await import('#lifecycle/queue/locks.ts');
  await lockWorkspace((await world.environmentOf(id)).workspaceId, world.api.userId, 'mine');
  later(2 * hour);
  await lookAt(id);
  expect(await seen(id)).toMatchObject({ transition: 'start' });
  expect((await world.environmentOf(id)).dueAt).toBe(new Date(Date.now() + minute).toISOString());
});

it('an environment is built once under concurrent checks', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  later(2 * hour);
  await Promise.all([lookAt(id), lookAt(id), lookAt(id), lookAt('of no environment')]);
  const builds = (await world.api.aws.items()).filter(
    ({ sk, environmentId }) => sk === 'ENVBUILD' && environmentId === id,
  );
  expect(builds).toHaveLength(2);
  expect(await seen(id)).toMatchObject({ transition: 'stop', number: 2 });
});

it('scheduled builds are recorded in the audit trail', async () => {
  const id = await world.running(await world.addTemplate(), { ttl_ms: hour });
  later(2 * hour);
  await sweep();
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
  const [made, ...others] = (await world.call('GET', '/audit?q=resource_type:workspace%20action:create')).body
    .audit_logs;
  expect([made.ip, made.action, made.status_code]).toEqual(['192.0.2.1', 'create', 200]);
  expect((await world.call('GET', `/workspaces/${made.resource_id}`)).status, 'the created one').toBe(200);
  expect(made.request_id, 'clients parse it').toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect([made, ...others].map(({ time }) => time)).toEqual(
    [made, ...others]
      .map(({ time }) => time)
      .sort()
      .reverse(),
  );
});
