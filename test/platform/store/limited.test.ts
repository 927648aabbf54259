import { expect, it } from 'vitest';
import { startAws } from '#test/support/aws.ts';
import { interleave } from '#test/support/interleave.ts';

const aws = await startAws();
const table = await import('#platform/store/table.ts');
const { createLimited } = await import('#platform/store/limited.ts');

/** Pseudo-random numbers, reproducible by a seed. */
function* numbers(seed: number): Generator<number, never> {
  for (let n = seed; ; n = (n * 1103515245 + 12345) % 2147483648) yield n >> 8;
}

const listOf = (pk: string) => {
  const all = async () => (await table.queryAll<{ sk: string }>({ pk })).map(({ sk }) => sk);
  const limit = { max: 3, count: async () => (await all()).length, full: () => new Error('full') };
  const add = (sk: string) =>
    createLimited(
      limit,
      async () => ((await table.create({ pk, sk })) ? sk : undefined),
      () => table.remove({ pk, sk }),
    );
  return { all, add };
};

it('concurrent requests never exceed a limit, in any order, and rejected ones leave no entry', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { all, add } = listOf(`list ${seed}`);
    await add('before');
    const outcomes = new Map<string, string>();
    const asked = ['a', 'b', 'c', 'd', 'e'];
    await interleave(aws, numbers(seed), () =>
      asked.map((name) =>
        add(name).then(
          () => void outcomes.set(name, 'created'),
          ({ message }) => void outcomes.set(name, message),
        ),
      ),
    );
    const created = asked.filter((name) => outcomes.get(name) === 'created');
    expect(await all()).toEqual([...created, 'before'].sort());
    expect(created.length).toBeLessThanOrEqual(2);
    expect(asked.filter((name) => outcomes.get(name) === 'full')).toHaveLength(asked.length - created.length);
  }
});

it('a limit admits the last entry, and removes no existing entry', async () => {
  const { all, add } = listOf('one by one');
  for (const name of ['a', 'b', 'c']) expect(await add(name)).toBe(name);
  await expect(add('d')).rejects.toThrow('full');
  expect(await all()).toEqual(['a', 'b', 'c']);
  await table.remove({ pk: 'one by one', sk: 'c' });
  expect(await add('a')).toBeUndefined();
  expect(await all()).toEqual(['a', 'b']);
});
