import { expect, it } from 'vitest';
import { fuzz, lackOf, summary } from './fuzz.ts';

/** A share of what `npm run fuzz -- --requests 100000` asks: the same one always, and one that nobody has asked yet. */

const share = { requests: 1500, withinMs: 15_000 };

// One world at a time: the platform is one for each process.
const seeds = { known: 1, random: Number(process.env.STEPFORM_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31)) };

it.each(Object.keys(seeds) as (keyof typeof seeds)[])(
  'answers everything without a failure inside, and leaves nothing behind of what it refuses: %s seed',
  async (which) => {
    const seed = seeds[which];
    // Time is not looked at here: other tests run beside this one.
    const { asked, findings, statuses } = await fuzz({ seed, ...share, mostMs: Number.POSITIVE_INFINITY });
    expect(summary(findings), `npm run fuzz -- --seed ${seed} --requests ${asked}`).toBe('');
    expect(asked).toBeGreaterThan(100);
    // Requests that nothing comes of look at nothing.
    expect((statuses[200] ?? 0) / asked).toBeGreaterThan(0.1);
  },
);

it('finds refusals that say too little', () => {
  const body = (error: object) => JSON.stringify({ errors: [error] });
  const good = { status: '422', title: 't', detail: 'd', source: { pointer: '/data' } };
  expect(lackOf(422, body(good))).toBeUndefined();
  expect(lackOf(422, body({ ...good, source: undefined }))).toMatch(/field/);
  expect(lackOf(422, body({ ...good, detail: '' }))).toMatch(/detail/);
  expect(lackOf(404, body(good))).toMatch(/status/);
  expect(lackOf(404, '{}')).toMatch(/errors/);
  expect(lackOf(404, undefined)).toMatch(/document/);
});
