import { expect, it } from 'vitest';
import { preset, startEnvironments } from './support.ts';

/** The SDK retries a call whose response was lost, so a conditional write can find its own earlier write. */

const world = await startEnvironments({ attempts: 2 });

/** Calls the function once per AWS call that it makes, losing the response to that call. */
const withEachAnswerLost = async (prepare: () => Promise<() => Promise<void>>): Promise<void> => {
  const { aws } = world.api;
  for (let n = 1; ; n += 1) {
    const act = await prepare();
    aws.failCall(n, 'after');
    await act();
    if (!aws.pendingFault) continue;
    aws.failCall(0, 'after');
    expect(n).toBeGreaterThan(5);
    return;
  }
};

it('every environment is created and stopped once although responses are lost', async () => {
  const template = await world.addTemplate();
  await withEachAnswerLost(async () => {
    const id = await world.running(template);
    return async () => {
      expect((await world.build(id, 'stop')).status).toBe(201);
      expect(await world.latest(id)).toMatchObject({ number: 2, transition: 'stop' });
      await world.end(id);
      expect((await world.call('GET', `/workspaces/${id}`)).body.latest_build.status).toBe('stopped');
    };
  });
  // Once per call to AWS.
}, 300_000);

it('a claimed prebuild belongs to its new owner and is built although responses are lost', async () => {
  const { reconcile } = await import('#environments/prebuilds/reconcile.ts');
  const { listPool } = await import('#environments/prebuilds/pool.ts');
  await withEachAnswerLost(async () => {
    const one = preset({ instances: 1 });
    const template = await world.addTemplate({}, [one]);
    await reconcile(template.id);
    const [first] = await listPool(template.id);
    if (!first) throw new Error('no pool');
    await world.end(first.id);
    return async () => {
      const claimed = await world.create(template, { template_version_preset_id: one.id });
      expect(claimed).toMatchObject({ status: 201, body: { id: first.id, owner_name: 'owner' } });
      expect((await world.call('GET', `/users/me/workspace/${claimed.body.name}`)).body.id).toBe(first.id);
      expect(await world.latest(first.id)).toMatchObject({ number: 2 });
    };
  });
});

it('a state is replaced, and the environment accepts builds afterwards, although responses are lost', async () => {
  const template = await world.addTemplate();
  const state = world.stateOf([]).toString('base64');
  await withEachAnswerLost(async () => {
    const id = await world.running(template);
    const build = await world.latest(id);
    return async () => {
      const answer = await world.call('PUT', `/workspacebuilds/${build.id}/state`, { body: { state } });
      expect(answer.status).toBe(204);
      expect((await world.build(id, 'stop')).status).toBe(201);
    };
  });
});
