import { describe, expect, it, vi } from 'vitest';
import type { Build } from '#environments/builds/records.ts';
import { backoffUntil, decide, desiredInstances, type Member, retire } from '#environments/prebuilds/decide.ts';
import type { Preset } from '#environments/templates/plan.ts';
import type { Template } from '#environments/templates/records.ts';
import { collectLog } from '#test/support/logged.ts';
import { preset, startEnvironments } from './support.ts';

const world = await startEnvironments();
const { getTemplate } = await import('#environments/templates/records.ts');

const now = Date.parse('2026-01-05T10:00:00Z');
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const member = (state: Member['state'], minutes = 10): Member => ({
  id: crypto.randomUUID(),
  createdAt: ago(minutes),
  state,
});

describe('a decision about a pool', () => {
  const none = { failures: [] };

  it.each([
    ['creates missing environments', [], { create: 2 }],
    ['counts starting environments', [member('starting'), member('running')], { create: 0, remove: [] }],
    ['counts pending environments', [member('pending'), member('running')], { create: 0, remove: [] }],
    ['does not count environments that are being deleted', [member('deleting')], { create: 2 }],
  ] as const)('%s', (_, members, expected) => {
    expect(decide(preset(), none, members, now)).toMatchObject(expected);
  });

  it('deletes the oldest surplus environments', () => {
    const members = [member('running', 30), member('running', 20), member('running', 10)];
    expect(decide(preset(), none, members, now)).toMatchObject({ create: 0, remove: [members[0]?.id] });
  });

  it('replaces expired and invalidated environments', () => {
    const members = [member('running', 60), member('running', 10)];
    const both = { create: 1, remove: [members[0]?.id] };
    expect(decide(preset({ ttlMs: 3_600_000 }), none, members, now)).toMatchObject(both);
    expect(decide(preset(), { ...none, lastInvalidatedAt: ago(10) }, members, now)).toMatchObject(both);
  });

  it('waits a minute for each failure of the last hour, and stops after three', () => {
    const failed = (...minutes: number[]) => minutes.map((n) => ({ id: `${n}`, at: now - n * 60_000 }));
    const failures = failed(50, 2);
    expect([backoffUntil({ failures }, now), backoffUntil({ failures: failed(60, 2) }, now)]).toEqual([
      now,
      now - 60_000,
    ]);
    expect(decide(preset(), { failures }, [], now - 1)).toMatchObject({ create: 0, isLimited: false });
    expect(decide(preset(), { failures }, [], now)).toMatchObject({ create: 2, isLimited: false });
    const third = [...failures, { id: '0', at: now - 7_200_000 }];
    expect(decide(preset(), { failures: third }, [], now)).toMatchObject({ create: 0, isLimited: true });
  });

  it('follows its schedule', () => {
    const scheduled = [{ cron: '* 9-17 * * 1-5', zone: 'UTC', instances: 5 }];
    expect(desiredInstances(preset({ scheduled }), now)).toBe(5);
    expect(desiredInstances(preset({ scheduled }), now + 12 * 3_600_000)).toBe(2);
    expect(desiredInstances({ ...preset({ scheduled }), instances: undefined }, now + 12 * 3_600_000)).toBe(0);
    const invalid = [{ cron: 'never', zone: 'UTC', instances: 5 }];
    expect(desiredInstances(preset({ scheduled: invalid }), now), 'an invalid schedule').toBe(2);
  });

  it('cancels pending builds of an old version, and deletes running and failed environments', () => {
    const [pending, running, starting] = [member('pending'), member('running'), member('starting')];
    const failed = member('failed');
    expect(retire([pending, running, starting, failed])).toEqual({
      create: 0,
      remove: [running.id, failed.id],
      cancel: [pending.id],
      isLimited: false,
    });
  });
});

describe('a pool', () => {
  const reconcile = async (template: Template) =>
    (await import('#environments/prebuilds/reconcile.ts')).reconcile(template.id);

  const pool = async (template: Template) => (await import('#environments/prebuilds/pool.ts')).listPool(template.id);

  const msToNextPass = async ({ id }: Template): Promise<number> =>
    Date.parse(((await getTemplate(id)) as { dueAt?: string }).dueAt ?? '') - Date.now();

  const setBuild = async (id: string, set: Partial<Build>) => {
    const { keys } = await import('#environments/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    await update(keys.build((await world.latest(id)).id), { set });
  };

  const filled = async (instances: number): Promise<{ template: Template; one: Preset }> => {
    const one = preset({ instances });
    const template = await world.addTemplate({}, [one]);
    await reconcile(template);
    for (const { id } of await pool(template)) await world.end(id);
    return { template, one };
  };

  it('is filled with unowned environments that are marked as prebuilds', async () => {
    const { template } = await filled(2);
    const all = await pool(template);
    expect(all).toHaveLength(2);
    await reconcile(template);
    expect(await pool(template)).toHaveLength(2);
    expect(await msToNextPass(template), 'the next pass comes later').toBeGreaterThan(300_000);
    expect(world.api.aws.items(), 'no write').not.toContainEqual(expect.objectContaining({ failures: [] }));
    expect(await world.inputsOf(all[0]?.id ?? '')).toMatchObject({
      CODER_WORKSPACE_IS_PREBUILD: 'true',
      CODER_WORKSPACE_OWNER: 'prebuilds',
      CODER_WORKSPACE_OWNER_ID: 'c42fdf75-3097-471c-8c33-fb52454d81c0',
    });
    const [{ id = '', name = '' } = {}] = all;
    expect(name).toMatch(/^prebuild-[a-z2-7]{15}$/);
    expect((await world.call('GET', '/audit?q=username:prebuilds')).body.count).toBe(2);
    expect(await world.runOf(await world.latest(id))).toMatchObject({ createdBy: world.api.userId });
    const shown = (await world.call('GET', `/users/prebuilds/workspace/${name}`)).body;
    expect(shown).toMatchObject({ id, is_prebuild: true, owner_name: 'prebuilds', latest_build: { deadline: null } });
    for (const [method, path, body] of [
      ['PATCH', '', { name: 'mine' }],
      ['PUT', '/ttl', { ttl_ms: 3_600_000 }],
      ['PUT', '/autostart', {}],
      ['PUT', '/extend', {}],
      ['PUT', '/dormant', { dormant: true }],
      ['POST', '/usage', {}],
    ] as const) {
      const { status, body: answer } = await world.call(method, `/workspaces/${id}${path}`, { body });
      expect([path, status, answer.message]).toEqual([
        path,
        409,
        expect.stringContaining('not supported for prebuilt'),
      ]);
    }
    const user = await world.members.withLevel('acme', 'write');
    const { id: buildId } = await world.latest(id);
    expect((await world.call('PATCH', `/workspacebuilds/${buildId}/cancel`, user)).status).toBe(403);
    for (const [transition, verb] of [
      ['stop', 'update'],
      ['delete', 'delete'],
    ] as const)
      expect(await world.build(id, transition, { ...user, body: { transition } })).toMatchObject({
        status: 403,
        body: { message: `You do not have permission to ${verb} this workspace.` },
      });
  });

  it('hands over its oldest environment in place, and is refilled', async () => {
    const { template, one } = await filled(1);
    const [first] = await pool(template);
    const claimed = await world.create(template, { template_version_preset_id: one.id, ttl_ms: 3_600_000 });
    expect(claimed).toMatchObject({
      status: 201,
      body: {
        id: first?.id,
        owner_name: 'owner',
        is_prebuild: false,
        ttl_ms: 3_600_000,
        latest_build: { build_number: 2 },
      },
    });
    const inputs = await world.inputsOf(claimed.body.id);
    expect(inputs).toMatchObject({ CODER_WORKSPACE_IS_PREBUILD_CLAIM: 'true', CODER_WORKSPACE_OWNER: 'owner' });
    expect(inputs).not.toHaveProperty('CODER_WORKSPACE_IS_PREBUILD');
    expect((await world.end(claimed.body.id)).deadline).toBeDefined();
    const byName = await world.call('GET', `/users/me/workspace/${claimed.body.name}`);
    expect(byName.body.id).toBe(first?.id);
    expect(await pool(template)).toEqual([]);
    const leftover = world.api.aws.items().filter(({ sk }) => new RegExp(`^PREBUILD#.*${first?.id}`).test(`${sk}`));
    expect(leftover).toEqual([]);
    const former = await world.call('GET', `/users/prebuilds/workspace/${first?.name}`);
    expect(former.status, "the prebuild's own name").toBe(404);
    expect(await msToNextPass(template), 'a pass at once').toBeLessThanOrEqual(0);
    await reconcile(template);
    expect(await pool(template)).toHaveLength(1);
  });

  it('names the resources that a claim has replaced, and none that it has only changed', async () => {
    const { putObject } = await import('#platform/store/bucket.ts');
    const { objects } = await import('#platform/store/keys.ts');
    const noteAfter = async (...actions: string[][]) => {
      const { template, one } = await filled(1);
      return noteOf(await world.create(template, { template_version_preset_id: one.id }), actions);
    };
    const noteOf = async (claimed: Awaited<ReturnType<typeof world.create>>, actions: string[][]) => {
      const build = await world.latest(claimed.body.id);
      const changes = actions.map((each, n) => ({ address: `a.r${n}`, mode: 'managed', change: { actions: each } }));
      const plan = JSON.stringify({ resource_changes: changes });
      const run = await world.runOf(build);
      await putObject(objects.artifact(run.id, 'plan', 'plan-json'), plan);
      return (await world.end(claimed.body.id)).note?.text;
    };
    expect(await noteAfter(['update'], ['create'], ['delete'])).toBeUndefined();
    expect(await noteAfter(['update'], ['delete', 'create'], ['create', 'delete'])).toContain('replaced a.r1, a.r2.');
    const { template } = await filled(0);
    const plain = await noteOf(await world.create(template, {}), [['delete', 'create']]);
    expect(plain, 'a build that claims nothing').toBeUndefined();
  });

  it('is not used for other presets, and a taken name claims nothing', async () => {
    const { enterPool } = await import('#environments/prebuilds/pool.ts');
    const { template, one } = await filled(1);
    const body = { name: 'same', template_version_preset_id: one.id };
    await enterPool({ templateId: template.id, createdAt: '', id: 'being-created' } as never);
    await world.create(template, body);
    const entry = expect.objectContaining({ environmentId: 'being-created' });
    expect(world.api.aws.items()).toContainEqual(entry);
    await reconcile(template);
    expect(world.api.aws.items(), 'a leftover').not.toContainEqual(entry);
    for (const { id } of await pool(template)) await world.end(id);
    expect((await world.create(template, body)).status).toBe(409);
    expect(await pool(template)).toHaveLength(1);
  });

  it.each<[string, object, Partial<Build>]>([
    ['is busy', { activeBuildId: 'another' }, {}],
    ['has another preset', { 'prebuild.presetId': 'another' }, {}],
    ['has another version', { 'prebuild.versionId': 'another' }, {}],
    ['has failed', {}, { error: 'no disk' }],
    ['was canceled', {}, { canceledAt: ago(1) }],
    ['was not deleted completely', {}, { transition: 'delete' }],
  ])('does not hand over an environment that %s', async (_, set, ofBuild) => {
    const { keys } = await import('#environments/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    const { template, one } = await filled(1);
    const [{ id = '' } = {}] = await pool(template);
    await update(keys.environment(id), { set: { ...set, updatedAt: ago(0) } });
    await setBuild(id, { ...ofBuild, updatedAt: ago(0) });
    const { status, body } = await world.create(template, { template_version_preset_id: one.id });
    expect([status, body.id === id]).toEqual([201, false]);
  });

  it('hands over the same environment again after a claim that failed', async () => {
    const { template, one } = await filled(1);
    const [first] = await pool(template);
    vi.spyOn(console, 'error').mockImplementation(() => {});
    for (let call = 1; (await pool(template)).length > 0; call++) {
      world.api.aws.failCall(call, 'before');
      const { status, body } = await world.create(template, { name: 'again', template_version_preset_id: one.id });
      expect([500, first?.id], `call ${call}`).toContain(status === 201 ? body.id : status);
    }
    world.api.aws.failCall(0, 'before');
    expect(await world.environmentOf(first?.id ?? '')).toMatchObject({ name: 'again', ownerName: 'owner' });
    vi.restoreAllMocks();
  });

  it('never hands one environment to two users', async () => {
    const { template, one } = await filled(3);
    const people = [await world.members.withLevel('acme', 'plan'), await world.members.withLevel('acme', 'write')];
    const ids = new Set((await pool(template)).map(({ id }) => id));
    const body = { template_version_preset_id: one.id };
    const tokens = [world.api.token, ...people.map(({ token }) => token)];
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => world.create(template, body, { token: tokens[i % tokens.length] ?? null })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const claimed = answers.map(({ body }) => body.id);
    expect(new Set(claimed).size).toBe(8);
    expect(claimed.filter((id) => ids.has(id))).toHaveLength(3);
    for (const { body } of answers) {
      const now = await world.environmentOf(body.id);
      expect([now.ownerName, now.buildNumber]).toEqual([body.owner_name, ids.has(body.id) ? 2 : 1]);
    }
  });

  it('is reconciled by one pass at a time', async () => {
    const template = await world.addTemplate({}, [preset({ instances: 3 })]);
    await Promise.all([reconcile(template), reconcile(template), reconcile(template)]);
    expect(await pool(template)).toHaveLength(3);
  });

  it('is emptied when its version is no longer active, and builds that wait are canceled', async () => {
    const { template } = await filled(2);
    const waiting = await world.addTemplate({}, [preset({ instances: 1 })]);
    await reconcile(waiting);
    expect(await msToNextPass(waiting), 'the next pass comes soon').toBeLessThan(100_000);
    await reconcile(waiting);
    expect(await msToNextPass(waiting), 'the next pass comes soon').toBeLessThan(100_000);
    const [{ id: pending = '' } = {}] = await pool(waiting);
    const isCanceled = async () => (await world.runOf(await world.latest(pending))).cancel !== undefined;
    expect(await isCanceled()).toBe(false);
    const next = { body: { id: await world.addVersion(waiting) } };
    expect((await world.call('PATCH', `/templates/${waiting.id}/versions`, next)).status).toBe(200);
    await reconcile(waiting);
    expect(await isCanceled()).toBe(true);
    await world.end(pending, 'canceled');
    await reconcile(waiting);
    expect(await world.latest(pending)).toMatchObject({ transition: 'delete', withoutRun: 'no state' });
    expect(await pool(waiting)).toEqual([]);
    await reconcile(waiting);
    expect(await getTemplate(waiting.id), 'no further pass').not.toHaveProperty('dueAt');
    const [running] = await pool(template);
    const id = await world.addVersion(template);
    const promoted = await world.call('PATCH', `/templates/${template.id}/versions`, { body: { id } });
    expect(promoted.status).toBe(200);
    // The pass starts at once, without waiting for the sweep.
    const due = [{ pk: `TPL#${template.id}`, sk: 'TPL' }];
    expect(world.api.aws.invoked).toContainEqual({ name: 'EnvironmentSweepFunction', event: { due } });
    await reconcile(template);
    expect(await world.latest(running?.id ?? '')).toMatchObject({ transition: 'delete', prebuild: 'pool' });
    for (const { id: old } of await pool(template)) await world.end(old);
    expect(await pool(template)).toEqual([]);
  });

  it('stops after three failures, and removes them', async () => {
    const template = await world.addTemplate({}, [preset({ instances: 1 })]);
    const { getPresetRecord, setFailures } = await import('#environments/prebuilds/pool.ts');
    const { getFound } = await import('#environments/templates/versions.ts');
    const { presets } = await getFound(template.activeVersionId);
    const of = presets[0]?.id ?? '';
    for (let n = 1; n <= 3; n++) {
      await reconcile(template);
      const [one] = await pool(template);
      await world.end(one?.id ?? '', 'errored');
      const claimed = await world.create(template, { template_version_preset_id: of });
      expect(claimed.body.id, 'a failed prebuild is not handed over').not.toBe(one?.id);
      await reconcile(template);
      const { failures } = await getPresetRecord(template.id, of);
      expect(failures).toHaveLength(n);
      await reconcile(template);
      expect((await msToNextPass(template)) > 100_000, 'a late pass').toBe(n === 3);
      expect(await pool(template)).toEqual([]);
      // As if the backoff had ended.
      await setFailures(
        template.id,
        of,
        failures.map((one) => ({ ...one, at: one.at - 2 * 3_600_000 })),
      );
    }
    await reconcile(template);
    expect(await pool(template)).toEqual([]);
  });

  it('forgets failures before a success', async () => {
    const { getPresetRecord, setFailures } = await import('#environments/prebuilds/pool.ts');
    const one = preset({ instances: 1 });
    const template = await world.addTemplate({}, [one]);
    await reconcile(template);
    for (const { id } of await pool(template)) await world.end(id);
    const [{ createdAt = '' } = {}] = await pool(template);
    const at = Date.parse(createdAt);
    const [second, third] = [
      { id: 'y', at: at + 1 },
      { id: 'z', at: at + 2 },
    ];
    await setFailures(template.id, one.id, [third, { id: 'x', at }, second]);
    await reconcile(template);
    expect((await getPresetRecord(template.id, one.id)).failures).toEqual([second, third]);
  });

  it('is neither filled nor emptied while pools are paused, but still handles claims', async () => {
    const { template, one } = await filled(1);
    await reconcile(template);
    await world.api.post('organizations', { name: 'second', email: 'a@b.test' });
    const paused = { body: { reconciliation_paused: true } };
    expect((await world.call('PUT', '/prebuilds/settings', paused)).status).toBe(200);
    expect((await world.call('PUT', '/prebuilds/settings', paused)).status).toBe(304);
    expect((await world.call('GET', '/prebuilds/settings')).body).toEqual(paused.body);
    expect(await msToNextPass(template), 'a pause starts no pass').toBeGreaterThan(0);
    expect((await world.create(template, { template_version_preset_id: one.id })).body.latest_build.build_number).toBe(
      2,
    );
    await reconcile(template);
    expect(await pool(template)).toEqual([]);
    expect(await getTemplate(template.id), 'the next pass').toHaveProperty('dueAt');
    await world.call('PUT', '/prebuilds/settings', { body: { reconciliation_paused: false } });
    const { audit_logs: logs } = (await world.call('GET', '/audit?q=resource_type:prebuilds_settings')).body;
    const names = logs.map(({ organization }: { organization: { name: string } }) => organization.name);
    expect(names).toEqual(['second', 'acme', 'second', 'acme']);
    expect(logs[0]).toMatchObject({ action: 'write', resource_id: '00000000-0000-0000-0000-000000000000' });
    expect(await msToNextPass(template), 'a pass at once').toBeLessThanOrEqual(0);
    await reconcile(template);
    expect(await pool(template)).toHaveLength(1);
    const { token } = await world.members.withLevel('acme', 'admin');
    expect((await world.call('PUT', '/prebuilds/settings', { ...paused, token })).status).toBe(403);
  });

  const setRun = async (id: string, set: Record<string, unknown>): Promise<void> => {
    const { updateRun } = await import('#resources/runs/records.ts');
    await updateRun((await world.latest(id)).runIds[0] ?? '', { set });
  };

  it.each(['pending', 'applying'])('does not count an environment whose destroy run is %s', async (status) => {
    const { template } = await filled(1);
    const [{ id = '' } = {}] = await pool(template);
    await world.build(id, 'delete');
    await setRun(id, { status });
    await reconcile(template);
    expect(await pool(template)).toHaveLength(2);
  });

  it.each([
    [{ status: 'planning' }, {}],
    [{ status: 'planning', cancel: { by: 'user-1', at: ago(1) } }, {}],
    // Its run is created after it.
    [{}, { runIds: ['run-none'] }],
  ])('counts an environment that starts: %j %j', async (ofRun, ofBuild) => {
    const template = await world.addTemplate({}, [preset({ instances: 1 })]);
    await reconcile(template);
    const [{ id = '' } = {}] = await pool(template);
    await setRun(id, { updatedAt: ago(0), ...ofRun });
    await setBuild(id, { updatedAt: ago(0), ...ofBuild });
    await reconcile(template);
    expect((await pool(template)).map((one) => one.id)).toEqual([id]);
    expect((await world.latest(id)).number, 'not replaced').toBe(1);
  });

  it('counts neither a canceled build nor a failed deletion as a failure, and repeats the deletion', async () => {
    const { getPresetRecord } = await import('#environments/prebuilds/pool.ts');
    const { template, one } = await filled(2);
    const [{ id: first = '' } = {}, { id: second = '' } = {}] = await pool(template);
    const completedAt = new Date().toISOString();
    await setBuild(first, { canceledAt: completedAt });
    await setBuild(second, { transition: 'delete', error: 'no disk', completedAt });
    await reconcile(template);
    expect((await getPresetRecord(template.id, one.id)).failures).toEqual([]);
    for (const id of [first, second])
      expect(await world.latest(id), id).toMatchObject({ number: 2, transition: 'delete' });
    await setBuild(first, {
      transition: 'start',
      error: 'no disk',
      completedAt: ago(0),
      canceledAt: undefined as never,
    });
    await reconcile(template);
    const { failures } = await getPresetRecord(template.id, one.id);
    expect(failures.map(({ at }) => at)).toEqual([now]);
  });

  it('logs a failure that the next pass repeats, but not a lock', async () => {
    const logged = collectLog('error');
    const { keys } = await import('#platform/store/keys.ts');
    const { update } = await import('#platform/store/table.ts');
    const { getFound, putFound } = await import('#environments/templates/versions.ts');
    const { template, one } = await filled(1);
    const [{ id = '', workspaceId = '' } = {}] = await pool(template);
    await update(keys.workspace(workspaceId), {
      set: { lock: { kind: 'user', userId: world.api.userId, reason: '' } },
    });
    const found = await getFound(template.activeVersionId);
    await putFound(template.activeVersionId, { ...found, presets: [{ ...one, instances: 0 }] });
    await reconcile(template);
    expect([(await world.latest(id)).number, logged]).toEqual([1, []]);
    const size = { name: 'size', type: 'number', options: [], min: 3, mutable: true, defaultValue: '1' };
    await putFound(template.activeVersionId, {
      ...found,
      parameters: [size as never],
      presets: [{ ...one, instances: 2 }],
    });
    await reconcile(template);
    expect(logged).toMatchObject([{ message: 'prebuild not created', parameter: 'size' }]);
    vi.restoreAllMocks();
  });

  it('is looked at often while its environments can expire or it has a schedule', async () => {
    const scheduled = [{ cron: '* * * * *', zone: 'UTC', instances: 1 }];
    for (const one of [
      preset({ instances: 1, ttlMs: 3_600_000 }),
      { ...preset({ scheduled }), instances: undefined },
    ]) {
      const template = await world.addTemplate({}, [one]);
      await reconcile(template);
      const all = await pool(template);
      expect(all).toHaveLength(1);
      for (const { id } of all) await world.end(id);
      await reconcile(template);
      expect(await msToNextPass(template)).toBeLessThan(100_000);
    }
  });

  it.each([{ deprecationMessage: 'old' }, { deletedAt: ago(1) }])(
    'is emptied when its template has %j',
    async (set) => {
      const { keys } = await import('#environments/keys.ts');
      const { update } = await import('#platform/store/table.ts');
      const { template } = await filled(1);
      const [{ id = '' } = {}] = await pool(template);
      await update(keys.template(template.id), { set });
      await reconcile(template);
      expect((await world.latest(id)).transition).toBe('delete');
    },
  );

  it('loses an environment whose creation was interrupted, with its workspace', async () => {
    const { enterPool } = await import('#environments/prebuilds/pool.ts');
    const { insertEnvironment } = await import('#environments/workspaces/insert.ts');
    const { getWorkspace } = await import('#resources/workspaces/records.ts');
    const { template, one } = await filled(0);
    const settings = { prebuild: { presetId: one.id, versionId: template.activeVersionId } };
    const owner = { id: 'prebuilds', username: 'prebuilds' };
    const inserted = await insertEnvironment(
      { template, name: 'half', owner, settings, by: world.api.userId },
      enterPool,
    );
    const { workspaceId } = inserted as Exclude<typeof inserted, string>;
    expect(await pool(template)).toHaveLength(1);
    await reconcile(template);
    expect([await pool(template), await getWorkspace(workspaceId)]).toEqual([[], undefined]);
  });

  it('gets a pass at once when one was requested during a pass', async () => {
    const { endLease, takeLease, wakePool } = await import('#environments/prebuilds/pool.ts');
    const template = await world.addTemplate({}, [preset()]);
    const held = await takeLease(template.id);
    expect(await takeLease(template.id), 'one pass at a time').toBeUndefined();
    expect(await msToNextPass(template), 'after an interrupted pass').toBeGreaterThan(200_000);
    await wakePool(template.id);
    if (held) await endLease(held, 600);
    expect(await msToNextPass(template)).toBeLessThanOrEqual(0);
    expect(await takeLease(template.id)).toBeDefined();
  });

  it('is reconciled at once when a version with presets becomes active, and not without presets', async () => {
    const template = await world.addTemplate();
    for (const [presets, passes] of [
      [[], 0],
      [[preset()], 1],
      [[], 2],
    ] as const) {
      world.api.aws.invoked.length = passes === 2 ? 1 : 0;
      const body = { id: await world.addVersion(template, [...presets]) };
      await world.call('PATCH', `/templates/${template.id}/versions`, { body });
      expect(world.api.aws.invoked, `${presets.length} presets`).toHaveLength(passes);
    }
  });

  it('is replaced when a user invalidates it', async () => {
    const { template } = await filled(1);
    const [old] = await pool(template);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const answer = await world.call('POST', `/templates/${template.id}/prebuilds/invalidate`);
    expect(answer.body.invalidated).toMatchObject([
      { template_name: template.name, template_version_name: expect.stringMatching(/^v-/), preset_name: 'small' },
    ]);
    await reconcile(template);
    expect((await world.latest(old?.id ?? '')).transition).toBe('delete');
    expect((await pool(template)).length).toBe(2);
  });
});
