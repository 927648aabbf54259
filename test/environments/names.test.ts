import fc from 'fast-check';
import { expect, it } from 'vitest';
import { uniqueName } from '#test/support/api.ts';
import { startEnvironments } from './support.ts';

/** Names of environments: unique per owner, also for concurrent requests. */

const world = await startEnvironments();
const template = await world.addTemplate();

const named = async (name: string) => {
  const { body } = await world.call('GET', '/workspaces?q=owner:me');
  return body.workspaces.filter((one: { name: string }) => one.name.toLowerCase() === name.toLowerCase());
};

it('a name is given to one of several concurrent requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }), async (upperCase) => {
      const name = uniqueName('dev');
      const answers = await Promise.all(
        upperCase.map((upper) => world.create(template, { name: upper ? name.toUpperCase() : name })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...upperCase.slice(1).map(() => 409)]);
      expect(answers.find(({ status }) => status === 409)?.body.validations[0].field).toBe('name');
      expect(await named(name)).toHaveLength(1);
    }),
    { numRuns: 15 },
  );
});

it('a name is given to a new environment or to a renamed one, never to both', async () => {
  for (let n = 0; n < 5; n++) {
    const id = await world.running(template);
    const name = uniqueName('dev');
    const [created, renamed] = await Promise.all([
      world.create(template, { name }),
      world.call('PATCH', `/workspaces/${id}`, { body: { name } }),
    ]);
    expect([created.status, renamed.status].filter((status) => status < 300)).toHaveLength(1);
    expect(await named(name)).toHaveLength(1);
  }
});

it('a deleted environment frees its name, and is read by it with include_deleted until another one has it', async () => {
  const name = uniqueName('dev');
  const { body } = await world.create(template, { name });
  await world.end(body.id);
  await world.built(body.id, 'delete');
  const path = `/users/me/workspace/${name.toUpperCase()}`;
  expect((await world.call('GET', path)).status).toBe(404);
  const deleted = await world.call('GET', `${path}?include_deleted=true`);
  expect([deleted.status, deleted.body.id, deleted.body.latest_build.transition]).toEqual([200, body.id, 'delete']);
  expect((await world.call('GET', `/workspaces/${body.id}?include_deleted=true`)).status).toBe(200);
  const builds = await world.call('GET', `/workspaces/${body.id}/builds`);
  expect([builds.status, builds.body.length]).toEqual([200, 2]);
  const { body: next } = await world.create(template, { name });
  expect((await world.call('GET', `${path}?include_deleted=true`)).body.id).toBe(next.id);
});
