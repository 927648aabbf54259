import { expect, it, vi } from 'vitest';
import type { UniqueNames } from '#platform/store/unique-names.ts';
import { startAws } from '#test/support/aws.ts';

interface Named {
  id: string;
  name: string;
}

await startAws();
const table = await import('#platform/store/table.ts');
const unique = await import('#platform/store/unique-names.ts');
const { inBatches } = await import('#platform/store/batches.ts');

const nameKey = (name: string) => ({ pk: 'NAMES', sk: name });
const holderOf = async (name: string) => (await table.get<{ holder: string }>(nameKey(name)))?.holder;

const prepare = () => {
  const records = new Map<string, Named>();
  const names: UniqueNames<Named> = { key: ({ name }) => nameKey(name), find: async (id) => records.get(id) };
  return { records, names };
};

it('a name belongs to one record, and to another one after its release', async () => {
  const { records, names } = prepare();
  const [a, b] = [
    { id: 'a', name: 'first' },
    { id: 'b', name: 'first' },
  ];
  records.set('a', a);
  expect(await unique.claimName(names, a)).toBe(true);
  expect(await unique.claimName(names, b)).toBe(false);
  await unique.releaseName(names, b);
  expect(await holderOf('first')).toBe('a');
  await unique.releaseName(names, a);
  expect(await unique.claimName(names, b)).toBe(true);
});

it('a name whose claimant created no record can be claimed again after the claim has expired', async () => {
  const { names } = prepare();
  expect(await unique.claimName(names, { id: 'interrupted', name: 'second' })).toBe(true);
  expect(await unique.claimName(names, { id: 'b', name: 'second' })).toBe(false);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 });
  try {
    expect(await unique.claimName(names, { id: 'b', name: 'second' })).toBe(true);
  } finally {
    vi.useRealTimers();
  }
  expect(await holderOf('second')).toBe('b');
});

it('of many concurrent claims of a name one succeeds, before any claimant has a record', async () => {
  const { records, names } = prepare();
  const claim = async (n: number) => {
    const record = { id: `${n}`, name: 'wanted' };
    const granted = await unique.claimName(names, record);
    if (granted) records.set(record.id, record);
    return granted;
  };
  const granted = await Promise.all(Array.from({ length: 20 }, (_, n) => claim(n)));
  expect(granted.filter(Boolean)).toHaveLength(1);
});

it('a name is reserved while a record is renamed to it', async () => {
  const { records, names } = prepare();
  const record = { id: 'a', name: 'from' };
  records.set('a', record);
  await unique.claimName(names, record);
  const renamed = await unique.rename(names, record, { ...record, name: 'to' }, async () => {
    expect(await unique.claimName(names, { id: 'b', name: 'to' })).toBe(false);
    return 'written';
  });
  expect(renamed).toBe('written');
});

it('a rename releases the old name, and the new one if the write fails', async () => {
  const { records, names } = prepare();
  const record = { id: 'a', name: 'old' };
  const renamed = { id: 'a', name: 'new' };
  records.set('a', record);
  await unique.claimName(names, record);
  expect(await unique.rename(names, record, renamed, async () => undefined)).toBeUndefined();
  expect([await holderOf('old'), await holderOf('new')]).toEqual(['a', undefined]);
  expect(await unique.rename(names, record, renamed, async () => renamed)).toEqual(renamed);
  expect([await holderOf('old'), await holderOf('new')]).toEqual([undefined, 'a']);
});

it('a rename to a taken name writes nothing, and an unchanged name is not claimed', async () => {
  const { records, names } = prepare();
  const [a, b] = [
    { id: 'a', name: 'mine' },
    { id: 'b', name: 'theirs' },
  ];
  records.set('b', b);
  await unique.claimName(names, b);
  const write = async () => {
    throw new Error('written');
  };
  expect(await unique.rename(names, a, { ...a, name: 'theirs' }, write)).toBe('name taken');
  expect(await unique.rename(names, a, { ...a }, async () => a)).toEqual(a);
  expect(await holderOf('mine')).toBeUndefined();
});

it('batches are processed in order, and stop after one that fails', async () => {
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const work = async (item: number) => {
    started.push(item);
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (item === 3) throw new Error('third');
  };
  await expect(inBatches([1, 2, 3, 4, 5], work, 2)).rejects.toThrow('third');
  expect([started, most]).toEqual([[1, 2, 3, 4], 2]);
});

it('a batch read returns more items than fit in one request, in the order of their keys', async () => {
  const keys = Array.from({ length: 230 }, (_, i) => ({ pk: 'MANY', sk: `${i}` }));
  await inBatches(keys, (key) => table.put({ ...key }), 50);
  expect(await table.batchGet(keys.toReversed())).toEqual(keys.toReversed());
});
