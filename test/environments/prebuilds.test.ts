import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffUntil, decide, desiredInstances, type Member, retire } from '#environments/prebuilds/decide.ts';
import type { Preset } from '#environments/templates/plan.ts';
import type { Template } from '#environments/templates/records.ts';
import { preset, startEnvironments } from './support.ts';

const world = await startEnvironments();

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
  });

  it('cancels pending builds of an old version, and deletes running environments', () => {
    const [pending, running, starting] = [member('pending'), member('running'), member('starting')];
    expect(retire([pending, running, starting])).toEqual({
      create: 0,
      remove: [running.id],
      cancel: [pending.id],
      isLimited: false,
    });
  });

  it('never creates more than are missing', () => {
    const states = fc.array(fc.constantFrom<Member['state']>('pending', 'starting', 'running', 'failed', 'deleting'));
    fc.assert(
      fc.property(states, fc.nat(10), (all, instances) => {
        const members = all.map((state, i) => member(state, 100 - i));
        const { create, remove } = decide(preset({ instances }), none, members, now);
        const stay = members.filter(
          ({ state, id }) => ['pending', 'starting', 'running'].includes(state) && !remove.includes(id),
        );
        expect(create + stay.length).toBeLessThanOrEqual(Math.max(instances, stay.length));
        expect(create > 0 && stay.length > instances).toBe(false);
      }),
    );
  });
});

describe('a pool', () => {
  const reconcile = async (template: Template) =>
    (await import('#environments/prebuilds/reconcile.ts')).reconcile(template.id);

  const pool = async (template: Template) => (await import('#environments/prebuilds/pool.ts')).listPool(template.id);

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
    const { getTemplate } = await import('#environments/templates/records.ts');
    const { dueAt = '' } = ((await getTemplate(template.id)) ?? {}) as { dueAt?: string };
    expect(Date.parse(dueAt) - Date.now(), 'the next pass comes later').toBeGreaterThan(300_000);
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
    expect((await world.build(id, 'stop', { ...user, body: { transition: 'stop' } })).status).toBe(403);
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
    const { template, one } = await filled(1);
    const body = { template_version_preset_id: one.id };
    await world.create(template, { name: 'same', template_version_preset_id: one.id });
    await reconcile(template);
    for (const { id } of await pool(template)) await world.end(id);
    expect((await world.create(template, { ...body, name: 'same' })).status).toBe(409);
    expect(await pool(template)).toHaveLength(1);
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
    await reconcile(waiting);
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
    const { getTemplate } = await import('#environments/templates/records.ts');
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
    const { getTemplate } = await import('#environments/templates/records.ts');
    const { getPresetRecord, setFailures } = await import('#environments/prebuilds/pool.ts');
    const { getFound } = await import('#environments/templates/versions.ts');
    const { presets } = await getFound(template.activeVersionId);
    const of = presets[0]?.id ?? '';
    for (let n = 1; n <= 3; n++) {
      await reconcile(template);
      const [one] = await pool(template);
      await world.end(one?.id ?? '', 'errored');
      await reconcile(template);
      const { failures } = await getPresetRecord(template.id, of);
      expect(failures).toHaveLength(n);
      await reconcile(template);
      const { dueAt = '' } = (await getTemplate(template.id)) as { dueAt?: string };
      expect(Date.parse(dueAt) - Date.now() > 100_000, 'a late pass').toBe(n === 3);
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

  it('is neither filled nor emptied while pools are paused, but still handles claims', async () => {
    const { template, one } = await filled(1);
    const paused = { body: { reconciliation_paused: true } };
    expect((await world.call('PUT', '/prebuilds/settings', paused)).status).toBe(200);
    expect((await world.call('PUT', '/prebuilds/settings', paused)).status).toBe(304);
    expect((await world.create(template, { template_version_preset_id: one.id })).body.latest_build.build_number).toBe(
      2,
    );
    await reconcile(template);
    expect(await pool(template)).toEqual([]);
    const { getTemplate } = await import('#environments/templates/records.ts');
    expect(await getTemplate(template.id), 'the next pass').toHaveProperty('dueAt');
    await world.call('PUT', '/prebuilds/settings', { body: { reconciliation_paused: false } });
    const { dueAt = '' } = (await getTemplate(template.id)) as { dueAt?: string };
    expect(Date.parse(dueAt), 'a pass at once').toBeLessThanOrEqual(Date.now());
    await reconcile(template);
    expect(await pool(template)).toHaveLength(1);
    const { token } = await world.members.withLevel('acme', 'admin');
    expect((await world.call('PUT', '/prebuilds/settings', { ...paused, token })).status).toBe(403);
  });

  it('does not count an environment that is being destroyed', async () => {
    const { template } = await filled(1);
    const [one] = await pool(template);
    await world.build(one?.id ?? '', 'delete');
    const { updateRun } = await import('#resources/runs/records.ts');
    await updateRun((await world.latest(one?.id ?? '')).runIds[0] ?? '', { set: { status: 'applying' } });
    await reconcile(template);
    expect(await pool(template)).toHaveLength(2);
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
