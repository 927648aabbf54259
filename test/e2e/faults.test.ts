import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { newAccount } from '#test/support/new-account.ts';
import { platformWithFaults } from './support/platform-with-faults.ts';
import { isFinalRun, type Resource, until } from './support/waiting.ts';

/** Runs on a platform whose functions die, and which behaves like a new account on AWS. */

const waitMs = 300_000;
const world = platformWithFaults(waitMs);

const runsIn = ({ id }: Resource): Promise<Resource[]> => world.client.list(`/workspaces/${id}/runs`);

const open = async (name: string, isAutomatic = true, main = 'output "n" { value = 1 }\n') => {
  const attributes = { 'auto-apply': isAutomatic };
  const workspace = await world.client.createWorkspace(world.platform.local.organization, name, attributes);
  return { workspace, version: await world.client.upload(workspace.id, await packFiles({ 'main.tf': main })) };
};

/** Sends without the client's retries. */
const post = ({ workspace, version }: Awaited<ReturnType<typeof open>>) =>
  fetch(`${world.platform.local.url}/api/v2/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.platform.local.token}`,
      'content-type': 'application/vnd.api+json',
    },
    body: JSON.stringify({
      data: {
        type: 'runs',
        attributes: { message: 'interrupted' },
        relationships: {
          workspace: { data: { type: 'workspaces', id: workspace.id } },
          'configuration-version': { data: { type: 'configuration-versions', id: version.id } },
        },
      },
    }),
  });

/** Kills the function of POST /runs before this write of new items. test/lifecycle has all writes, in process. */
const withDeath = async <T>(nth: number, work: () => Promise<T>): Promise<T> => {
  await world.putFaults([{ kind: 'kill', service: 'dynamodb', action: 'PutItem', nth, times: 1 }]);
  try {
    return await work();
  } finally {
    await world.putFaults([]);
  }
};

const plannedAt = ({ attributes }: Resource): string => attributes['status-timestamps']['plan-queued-at'];

it('a run whose creation died is never overtaken by the next one, and delays it for minutes at most', async () => {
  const places = [];
  // Before the first write, in the middle, and before one of the last, which follows the run.
  for (const nth of [1, 3, 6]) {
    const place = await open(`dies-${nth}`);
    const answer = await withDeath(nth, () => post(place));
    expect(answer.status, `death ${nth}`).toBe(500);
    places.push({ nth, ...place, next: await world.client.createRun(place.workspace.id, {}, place.version.id) });
  }
  const survivors: number[] = [];
  for (const { nth, workspace, next } of places) {
    const ended = await world.client.waitForRun(next.id, isFinalRun, waitMs);
    // After the interrupted run, the next one may have no changes left.
    expect(['applied', 'planned_and_finished'], `death ${nth}`).toContain(ended.attributes.status);
    const others = (await runsIn(workspace)).filter(({ id }) => id !== next.id);
    for (const other of others) {
      expect(isFinalRun(other), `death ${nth}: ${other.attributes.status} after the next run`).toBe(true);
      expect(plannedAt(other) < plannedAt(ended), `death ${nth}: overtaken`).toBe(true);
    }
    survivors.push(others.length);
  }
  // The first interruptions leave no run, the later ones leave one.
  expect(survivors).toEqual([...survivors].sort());
  expect([survivors[0], survivors.at(-1)]).toEqual([0, 1]);
}, 300_000);

it('the client repeats the request by itself', async () => {
  const { workspace, version } = await open('client');
  const run = await withDeath(3, () => world.client.createRun(workspace.id, {}, version.id));
  expect((await runsIn(workspace)).map(({ id }) => id)).toEqual([run.id]);
}, 60_000);

/** As clients do after 503. */
const patiently = async <T>(request: () => Promise<T>): Promise<T> => {
  let answer: T | undefined;
  await until(
    async () => {
      answer = await request().catch((error: { status?: number }) => {
        if (error.status !== 503) throw error;
        return undefined;
      });
      return answer !== undefined;
    },
    (isAnswered) => isAnswered,
    waitMs,
  );
  return answer as T;
};

const isWaiting = ({ attributes }: Resource): boolean => attributes.actions['is-confirmable'];

/** Confirms the run if it waits for that. */
const finish = async (run: Resource): Promise<string> => {
  const reached = await patiently(() =>
    world.client.waitForRun(run.id, (one) => isFinalRun(one) || isWaiting(one), waitMs),
  );
  if (isWaiting(reached)) await patiently(async () => (await world.client.act(run.id, 'apply')) ?? true);
  const ended = await patiently(() => world.client.waitForRun(run.id, isFinalRun, waitMs));
  return ended.attributes.status as string;
};

/** More requests at once than the account has concurrency, again and again. */
const crowd = async (isOver: () => boolean): Promise<void> => {
  const request = () =>
    fetch(`${world.platform.local.url}/api/v2/organizations/${world.platform.local.organization}/workspaces`, {
      headers: { authorization: `Bearer ${world.platform.local.token}` },
    }).then((answer) => answer.arrayBuffer());
  while (!isOver()) {
    await Promise.all(Array.from({ length: 15 }, request));
    await sleep(500);
  }
};

/** An apply in `source` starts a run in `target`, by an event. */
const connect = (source: Resource, target: Resource) =>
  world.client.create(
    `/workspaces/${target.id}/run-triggers`,
    'run-triggers',
    {},
    { sourceable: { data: { type: 'workspaces', id: source.id } } },
  );

it('four runs at once are each applied once, and trigger one run each', async () => {
  const opened = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      open(`new-account-${n}`, n % 2 === 0, `resource "terraform_data" "a" { input = ${n} }\n`),
    ),
  );
  const [a, b, c, d] = opened.map(({ workspace }) => workspace) as [Resource, Resource, Resource, Resource];
  await Promise.all([connect(a, b), connect(c, d)]);
  await world.putFaults(newAccount);
  let isOver = false;
  const visitors = crowd(() => isOver);
  const runs = await Promise.all(
    opened.map(({ workspace, version }) =>
      patiently(() => world.client.createRun(workspace.id, { message: 'first day' }, version.id)),
    ),
  );
  const statuses = await Promise.all(runs.map(finish));
  const ofTargets = () => Promise.all([b, d].map((target) => patiently(() => runsIn(target))));
  await until(ofTargets, (all) => all.every((runs) => runs.length > 1 && runs.every(isFinalRun)), waitMs);
  isOver = true;
  await visitors;
  const injected = await world.faults();
  await world.putFaults([]);
  expect(statuses).toEqual(Array(4).fill('applied'));
  // Each fault happened.
  expect(injected.filter((rule) => rule.injected === 0)).toEqual([]);
  expect((await ofTargets()).map((runs) => runs.map(({ attributes }) => attributes.status))).toEqual([
    ['planned_and_finished', 'applied'],
    ['planned_and_finished', 'applied'],
  ]);
  for (const { workspace } of opened) {
    const { attributes } = await world.client.get(`/workspaces/${workspace.id}/current-state-version`);
    expect(attributes.serial).toBe(1);
    expect((await world.client.get(`/workspaces/${workspace.id}`)).attributes.locked).toBe(false);
  }
}, 600_000);
