import { expect, it } from 'vitest';
import { packFiles } from '#clients/cli/archive.ts';
import { platformWithFaults } from './support/platform-with-faults.ts';
import { isFinalRun, type Resource } from './support/waiting.ts';

/** Kills the function of POST /runs before each of its writes of new items in turn. */

/** More than a creation has writes, so that the last creation survives. */
const deaths = Array.from({ length: 10 }, (_, i) => i + 1);
const waitMs = 240_000;

const world = platformWithFaults(waitMs);

const open = async (name: string) => {
  const workspace = await world.client.createWorkspace(world.platform.local.organization, name, { 'auto-apply': true });
  const version = await world.client.upload(workspace.id, await packFiles({ 'main.tf': 'output "n" { value = 1 }\n' }));
  return { workspace, version };
};

/** Sends without the client's retries. */
const post = ({ workspace, version }: Awaited<ReturnType<typeof open>>, headers: Record<string, string> = {}) =>
  fetch(`${world.platform.local.url}/api/v2/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${world.platform.local.token}`,
      'content-type': 'application/vnd.api+json',
      ...headers,
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

const withDeath = async <T>(nth: number, work: () => Promise<T>): Promise<T> => {
  await world.putFaults([{ kind: 'kill', service: 'dynamodb', action: 'PutItem', nth, times: 1 }]);
  try {
    return await work();
  } finally {
    await world.putFaults([]);
  }
};

const runsOf = (workspace: Resource): Promise<Resource[]> => world.client.list(`/workspaces/${workspace.id}/runs`);
const plannedAt = ({ attributes }: Resource): string => attributes['status-timestamps']['plan-queued-at'];

it('a run whose creation died is never overtaken by the next one, and delays it for minutes at most', async () => {
  const places = [];
  for (const nth of deaths) {
    const place = await open(`dies-${nth}`);
    const answer = await withDeath(nth, () => post(place));
    expect([201, 500], `death ${nth}`).toContain(answer.status);
    places.push({ nth, ...place, next: await world.client.createRun(place.workspace.id, {}, place.version.id) });
  }
  const survivors: number[] = [];
  // One after the other: ten polls at once would take most of the processor time.
  for (const { nth, workspace, next } of places) {
    const ended = await world.client.waitForRun(next.id, isFinalRun, waitMs);
    // After the interrupted run, the next one may have no changes left.
    expect(['applied', 'planned_and_finished'], `death ${nth}`).toContain(ended.attributes.status);
    const others = (await runsOf(workspace)).filter(({ id }) => id !== next.id);
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
  expect((await runsOf(workspace)).map(({ id }) => id)).toEqual([run.id]);
}, 60_000);
