import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outputOf } from '#runner/program/terraform/process.ts';
import { takeUsers, type User } from '#runner/program/terraform/users.ts';
import { type Figure, median, quantile, round, type Section } from './figures.ts';

const times = 40;

const startOf = async (user: User, directory: string): Promise<number> => {
  const begin = performance.now();
  await outputOf({ path: '/bin/true', args: [], directory, environment: {}, user }, 30_000);
  return performance.now() - begin;
};

/** Users of a run, and the milliseconds to make them. */
const usersOf = (terraformUsers: string, rooms: boolean) => {
  const folder = mkdtempSync(join(tmpdir(), 'room-bench-'));
  chmodSync(folder, 0o711);
  const begin = performance.now();
  const { plan } = takeUsers({ terraformUsers, rooms }, folder);
  return { folder, plan, madeMs: performance.now() - begin };
};

export const room: Section = {
  about: 'starts of /bin/true in a room, as a separate user, and as the own user, in turn (as root)',
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const kinds = {
      'in a room': usersOf('', true),
      'as a separate user': usersOf('', false),
      'as the own user': usersOf('none', false),
    };
    const samples = new Map<string, number[]>();
    for (let n = 0; n < times; n++)
      for (const [kind, { plan, folder }] of Object.entries(kinds))
        samples.set(kind, [...(samples.get(kind) ?? []), await startOf(plan, folder)]);
    for (const [kind, all] of samples) {
      yield { name: `start ${kind}, median`, value: round(median(all)), unit: 'ms' };
      // On a machine that is busy with other things.
      yield { name: `start ${kind}, fastest tenth`, value: round(quantile(all, 0.1)), unit: 'ms' };
    }
    yield { name: 'making the room of a run, once', value: round(kinds['in a room'].madeMs), unit: 'ms' };
    for (const { plan, folder } of Object.values(kinds)) {
      plan.room?.close();
      rmSync(folder, { recursive: true });
    }
  },
};
