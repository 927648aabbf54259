import { expect, it } from 'vitest';
import { startAws } from '#test/support/aws.ts';

const aws = await startAws();
const store = {
  ...(await import('#platform/store/table.ts')),
  ...(await import('#platform/store/together.ts')),
};

const written = async (pk: string): Promise<void> => {
  for (const sk of ['A', 'VAR#1', 'VAR#2', 'VARKEY#a', 'VARSET#1', 'WS', 'WSTASK#1', 'X']) await store.put({ pk, sk });
};
const found = async (pk: string, prefix: string) =>
  (await store.queryTogether<{ sk: string }>(pk, prefix)).map(({ sk }) => sk);
const counted = async <T>(work: () => Promise<T>): Promise<[T, number]> =>
  store.countingReads(async (): Promise<[T, number]> => [await work(), store.readCount()])();

it('concurrent reads of one partition’s ranges become one query', async () => {
  await written('ONE');
  const [answers, reads] = await counted(() =>
    Promise.all([found('ONE', 'WSTASK#'), found('ONE', 'VAR#'), found('ONE', 'VARSET#'), found('ONE', 'VAR#')]),
  );
  expect(answers).toEqual([['WSTASK#1'], ['VAR#1', 'VAR#2'], ['VARSET#1'], ['VAR#1', 'VAR#2']]);
  expect(reads).toBe(1);
});

it('reads of other partitions and later reads are separate queries', async () => {
  await written('TWO');
  await store.put({ pk: 'THREE', sk: 'VAR#9' });
  const [answers, reads] = await counted(() => Promise.all([found('TWO', 'VAR#'), found('THREE', 'VAR#')]));
  expect(answers).toEqual([['VAR#1', 'VAR#2'], ['VAR#9']]);
  expect(reads).toBe(2);
  await store.put({ pk: 'TWO', sk: 'VAR#3' });
  expect(await found('TWO', 'VAR#')).toEqual(['VAR#1', 'VAR#2', 'VAR#3']);
});

it('a failed query fails all reads that it combines', async () => {
  aws.failCall(1, 'before');
  const asked = [found('FOUR', 'VAR#'), found('FOUR', 'WSTASK#')];
  const said = await Promise.allSettled(asked);
  expect(said.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
