import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../../functions/client/client.ts';
import { Pushes } from '../../chaos/pushes.ts';
import { Chance } from '../../chaos/seeded-random.ts';
import { Tally } from '../../chaos/tally.ts';
import { PlatformProcess } from '../../e2e/support/platform.ts';

/** The platform is killed while deliveries come, come twice, late, in another order or never. */

let platform: PlatformProcess;
let client: Client;
let pushes: Pushes;
const connect = () => {
  client = new Client(platform.local.url, platform.local.token);
};
beforeAll(async () => {
  platform = await PlatformProcess.start();
  connect();
  const settings = { client: () => client, local: () => platform.local, token: 'good', tally: new Tally() };
  pushes = await Pushes.start(settings);
});
afterAll(async () => {
  await platform?.remove();
  await pushes?.end();
});

it('runs the newest commit exactly once in every workspace that follows, and no older one after it', async () => {
  const chance = new Chance(1);
  for (let kills = 0; kills < 3; kills++) {
    const killed = new Promise((done) => setTimeout(done, chance.between(50, 1500))).then(() =>
      platform.stop('SIGKILL'),
    );
    await Promise.all([1, 2, 3].map(() => pushes.push(chance.fork())));
    await killed;
    await platform.start();
    connect();
  }
  await pushes.bringOn();
  await expect.poll(() => pushes.unsettled(), { timeout: 300_000, interval: 1000 }).toEqual([]);
  expect(await pushes.findings()).toEqual([]);
});
