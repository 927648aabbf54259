import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import type { Task } from '#infra/local/aws/ecs/ecs-task.ts';
import { checkNothingWasDenied } from './support/denials.ts';
import { PlatformProcess } from './support/platform.ts';
import { runners, send } from './support/runners.ts';
import { slowState } from './support/slow-state.ts';
import { Client, isFinalRun, type Resource } from './support/waiting.ts';
import { newName, resources } from './support/world.ts';

/** A separate platform with one runner for two organizations. */
describe('with maxRunners = 1', () => {
  let platform: PlatformProcess;
  let client: Client;
  const beta = newName('beta');
  beforeAll(async () => {
    platform = await PlatformProcess.start({ STEPFORM_MAX_RUNNERS: '1' });
    client = new Client(platform.local.url, platform.local.token);
    await client.create('/organizations', 'organizations', { name: beta, email: 'a@example.test' });
  });
  afterAll(() => platform.remove());

  const create = async (
    organization: string,
    attributes: Record<string, unknown> = { 'auto-apply': true },
    main = resources(['a']),
  ): Promise<Resource> => {
    const workspace = await client.createWorkspace(organization, newName());
    const version = await client.upload(workspace.id, await packFiles({ 'main.tf': main }));
    return client.createRun(workspace.id, attributes, version.id);
  };
  const ended = async (run: Resource) => (await client.waitForRun(run.id, isFinalRun)).attributes;
  const awaitsSlot = (run: Resource) => client.waitForRun(run.id, (now) => now.attributes['awaits-slot']);
  const tasks = (): Task[] => {
    const folder = join(platform.dataDir, 'tasks');
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return files
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Task)
      .sort((a, b) => a.createdAt - b.createdAt);
  };
  const startOf = (run: Resource): number => tasks().find(({ startedBy }) => startedBy === run.id)?.createdAt ?? 0;
  /** Tasks that began before an earlier one had stopped. */
  const overlaps = (): Task[] => {
    const all = tasks();
    return all.filter(({ createdAt }, i) => i > 0 && createdAt < (all[i - 1]?.stoppedAt ?? Number.POSITIVE_INFINITY));
  };

  it('runs wait with their place, take turns between organizations, can be discarded, and start after a kill -9 of the one before', async () => {
    const acme = platform.local.organization;
    const slow = await slowState(60_000);
    const first = await create(acme, {}, slow.configuration);
    await slow.asked;
    const second = await awaitsSlot(await create(acme));
    const third = await create(acme);
    const discarded = await awaitsSlot(await create(acme));
    const other = await awaitsSlot(await create(beta));
    expect((await awaitsSlot(third)).attributes).toMatchObject({
      status: 'plan_queued',
      'position-in-queue': 1,
      actions: { 'is-cancelable': true, 'is-discardable': true },
    });
    expect((await client.run(other.id)).attributes['position-in-queue']).toBe(0);
    const capacity = await client.get(`/organizations/${acme}/capacity`);
    expect(capacity.attributes).toEqual({ pending: 3, running: 1 });
    const subscription = await client.get(`/organizations/${acme}/subscription`);
    expect(subscription.attributes['runs-ceiling']).toBe(1);
    await client.act(discarded.id, 'discard');
    expect((await ended(discarded)).status).toBe('discarded');
    const [runner] = runners(platform.dataDir).filter(({ startedBy }) => startedBy === first.id);
    send(runner as NonNullable<typeof runner>, 'SIGKILL');
    await slow.close();
    expect((await ended(first)).status).toBe('errored');
    for (const run of [second, third, other]) expect((await ended(run)).status).toBe('applied');
    expect([second, other, third].map(startOf)).toEqual([second, other, third].map(startOf).sort());
    expect(overlaps()).toEqual([]);
  });

  it('a runner that is ready for a confirmation makes room, and the confirmed apply waits for its slot', async () => {
    const acme = platform.local.organization;
    const confirmable = await create(acme, {});
    await client.waitForRun(confirmable.id, (run) => run.attributes.actions['is-confirmable']);
    const other = await create(beta);
    expect((await ended(other)).status).toBe('applied');
    await client.act(confirmable.id, 'apply');
    expect((await ended(confirmable)).status).toBe('applied');
    expect(overlaps()).toEqual([]);
    checkNothingWasDenied(platform.dataDir);
  });
});
