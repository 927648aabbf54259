import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Quotas: maximum daily costs of users' environments. */

const world = await startEnvironments();
const template = await world.addTemplate();
const size = 40;
const { putFound } = await import('#environments/templates/versions.ts');
const compute = { type: 'terraform_data', name: 'compute', hide: false, icon: '', dailyCost: size, metadata: [] };
await putFound(template.activeVersionId, { parameters: [], presets: [], start: [compute], stop: [] });

afterEach(() => {
  vi.useRealTimers();
});

/** A user who can create environments, in a team of their own. */
const person = async () => {
  const user = await world.members.withLevel('acme', 'plan');
  const { uuidOf } = await import('#environments/host/uuid.ts');
  return { ...user, path: `/organizations/acme/members/${uuidOf(user.id)}/workspace-quota` };
};

/** A running environment with the cost of its plan. */
const started = async (id: string): Promise<string> => {
  const { id: buildId } = await world.end(id);
  const { update } = await import('#platform/store/table.ts');
  const { keys } = await import('#environments/keys.ts');
  await update(keys.build(buildId), { set: { dailyCost: size }, condition: 'attribute_exists(pk)' });
  return id;
};

const quotaOf = async ({ path, token }: { path: string; token: string }) =>
  (await world.call('GET', path, { token })).body;

it('a user has no quota by default', async () => {
  const user = await person();
  expect(await quotaOf(user)).toEqual({ credits_consumed: 0, budget: -1 });
  expect((await world.create(template, {}, user)).status).toBe(201);
});

it('a start that exceeds the remaining quota is rejected, without a trace', async () => {
  const user = await person();
  const budget = size + 10;
  const set = await world.call('PUT', user.path, { body: { budget } });
  expect(set.body).toEqual({ credits_consumed: 0, budget });
  const first = await started((await world.create(template, {}, user)).body.id);
  expect(await quotaOf(user)).toEqual({ credits_consumed: size, budget });
  const name = uniqueName('dev');
  const refused = await world.create(template, { name }, user);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toBe(
    `Insufficient quota: the build costs ${size} a day, and ${size} of ${budget} are in use.`,
  );
  expect((await world.call('GET', `/users/me/workspace/${name}`, user)).status).toBe(404);
  // A stopped environment costs nothing, so another one can start.
  await world.built(first, 'stop', user);
  expect((await world.create(template, { name }, user)).status).toBe(201);
  expect((await world.build(first, 'start', user)).body.message).toContain('Insufficient quota');
  expect((await world.latest(first)).number).toBe(2);
});

it('running environments continue and can stop with any quota', async () => {
  const user = await person();
  const id = await started((await world.create(template, {}, user)).body.id);
  await world.call('PUT', user.path, { body: { budget: 0 } });
  expect((await world.build(id, 'start', user)).status).toBe(201);
  await started(id);
  expect((await world.build(id, 'stop', user)).status).toBe(201);
});

it('a start reserves its expected cost until its build ends, and for five minutes if no build follows', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const later = (minutes: number) => vi.setSystemTime(Date.now() + minutes * 60_000);
  const user = await person();
  await world.call('PUT', user.path, { body: { budget: 2 * size } });
  const { id } = (await world.create(template, {}, user)).body;
  later(6);
  expect(await quotaOf(user)).toMatchObject({ credits_consumed: size });
  await world.end(id);
  expect(await quotaOf(user), 'the actual cost').toMatchObject({ credits_consumed: 0 });
  const { holdQuota } = await import('#environments/quotas/check.ts');
  const environment = await world.environmentOf(id);
  const request = { template: { ...template, hasQuotas: true } as const, versionId: template.activeVersionId };
  for (const one of [environment, { ...environment, id: 'never-created' }])
    await holdQuota({ ...request, environment: one, ownerId: user.id });
  expect((await world.create(template, {}, user)).status).toBe(409);
  later(5);
  expect((await world.create(template, {}, user)).status).toBe(201);
});

it('as many concurrent starts are admitted as the quota allows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 5 }), fc.integer({ min: 0, max: 4 }), async (wishes, room) => {
      const user = await person();
      await world.call('PUT', user.path, { body: { budget: room * size } });
      const answers = await Promise.all(Array.from({ length: wishes }, () => world.create(template, {}, user)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(Math.min(wishes, room));
      expect((await quotaOf(user)).credits_consumed).toBe(Math.min(wishes, room) * size);
    }),
    { numRuns: 8 },
  );
});

it('the allowances of teams add up, unless the user has a quota', async () => {
  const user = await person();
  const { enterTeam } = await import('#resources/teams/members.ts');
  await enterTeam(user.team, [user.id]);
  const groups = (await world.call('GET', '/organizations/acme/groups')).body;
  const group = groups.find(({ name }: { name: string }) => name === user.team.name);
  expect(group).toMatchObject({ quota_allowance: -1 });
  const { username } = (await world.call('GET', '/users/me', user)).body;
  expect(group).toMatchObject({
    display_name: user.team.name,
    organization_name: 'acme',
    members: [{ username }],
    total_member_count: 1,
    source: 'user',
  });
  for (const path of [`/groups/${group.id}`, `/organizations/acme/groups/${user.team.name.toUpperCase()}`])
    expect((await world.call('GET', path)).body).toEqual(group);
  for (const path of [`/groups/${crypto.randomUUID()}`, '/organizations/acme/groups/unknown'])
    expect((await world.call('GET', path)).status).toBe(404);
  const change = { body: { quota_allowance: 70 } };
  expect((await world.call('PATCH', `/groups/${group.id}`, change)).body.quota_allowance).toBe(70);
  expect((await world.call('PATCH', `/groups/${group.id}`, { body: {} })).body.quota_allowance).toBe(70);
  expect((await quotaOf(user)).budget).toBe(70);
  await world.call('PUT', user.path, { body: { budget: 5 } });
  expect((await quotaOf(user)).budget).toBe(5);
  await world.call('PUT', user.path, { body: { budget: -1 } });
  expect((await quotaOf(user)).budget).toBe(70);
});

it.each([
  [{ quota_allowance: -2 }, /must be 0 or more/],
  [{ quota_allowance: 1.5 }, /whole number/],
  [{ quota_allowance: 'many' }, /a number/],
  [{ add_users: ['x'] }, /change the team instead/],
])('the change %j of a group is rejected', async (body, detail) => {
  const [group] = (await world.call('GET', '/organizations/acme/groups')).body;
  const answer = await world.call('PATCH', `/groups/${group.id}`, { body });
  expect(answer.status).toBe(400);
  expect(answer.body.validations).toMatchObject([
    { field: Object.keys(body)[0], detail: expect.stringMatching(detail) },
  ]);
});

it('a quota is set by owners only, and visible to them and the user', async () => {
  const [one, other] = [await person(), await person()];
  const set = (of: typeof one, budget: number, sent = {}) => world.call('PUT', of.path, { body: { budget }, ...sent });
  await Promise.all([set(one, 1), set(other, 2)]);
  expect([await quotaOf(one), await quotaOf(other)]).toMatchObject([{ budget: 1 }, { budget: 2 }]);
  expect((await set(one, 1_000_000, one)).status).toBe(403);
  for (const user of [other, await world.members.withFlags('acme', 'manage-membership')])
    expect((await world.call('GET', one.path, user)).status).toBe(404);
  expect((await world.call('GET', '/organizations/acme/groups', one)).status).toBe(404);
  const [group] = (await world.call('GET', '/organizations/acme/groups')).body;
  const body = { quota_allowance: 1_000_000 };
  expect((await world.call('PATCH', `/groups/${group.id}`, { ...one, body })).status).toBe(404);
});

it.each([
  ['applied', 2],
  ['errored', 0],
] as const)(
  'a build whose template names no cost counts with its cost estimate once it is %s',
  async (status, cost) => {
    const plain = await world.addTemplate();
    const { body } = await world.create(plain);
    const { updateRun } = await import('#resources/runs/records.ts');
    const { id } = await world.runOf(await world.latest(body.id));
    const costEstimate = { status: 'finished' as const, statusTimestamps: {}, proposedMonthlyCost: '45.5' };
    await updateRun(id, { set: { costEstimate } });
    await world.end(body.id, status);
    const { latest_build: latest } = (await world.call('GET', `/workspaces/${body.id}`)).body;
    // 45.50 a month is 1.52 a day, in whole credits.
    expect(latest.daily_cost).toBe(cost);
  },
);
