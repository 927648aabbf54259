import { expect, it } from 'vitest';
import { type Change, differencesOf } from '#clients/client/text/plan.ts';
import { rowsOf } from '#clients/client/text/plan-rows.ts';
import { comparePlans } from '#clients/web/text/plan-comparison.ts';

/** How two plans differ. */

const plan = (changes: Record<string, Change>) =>
  differencesOf({ resource_changes: Object.entries(changes).map(([address, change]) => ({ address, change })) })
    .resources;

const compare = (other: Record<string, Change>, one: Record<string, Change>) => {
  const { added, missing, different } = comparePlans(plan(other), plan(one));
  const addresses = (list: typeof added) => list.map(({ address }) => address);
  return { added: addresses(added), missing: addresses(missing), different };
};

const create = (after: object, more: object = {}): Change => ({ actions: ['create'], before: null, after, ...more });

it('changes that only one plan has are listed, equal ones and unchanged resources are not', () => {
  const same = create({ size: 1 }, { after_unknown: { id: true } });
  const unchanged: Change = { actions: ['no-op'], before: { a: 1 }, after: { a: 1 } };
  expect(
    compare({ a: same, old: create({}), calm: unchanged }, { a: same, new: create({}), calm: { ...unchanged } }),
  ).toEqual({ added: ['new'], missing: ['old'], different: [] });
});

it('another result is shown from the other plan to this one, with values known only in one of them', () => {
  const { different } = compare(
    { a: create({ size: 1, name: 'x' }, { after_unknown: { id: true } }) },
    { a: create({ size: 2, name: 'x', id: 'i-1' }) },
  );
  expect(different.map(({ address, kind, notes }) => [address, kind, ...notes])).toEqual([['a', 'create']]);
  expect(different.flatMap(rowsOf)).toEqual([
    { path: 'id', before: { hidden: 'known after apply' }, after: { text: '"i-1"' }, forces: false },
    { path: 'size', before: { text: '1' }, after: { text: '2' }, forces: false },
  ]);
});

it('another action is a difference although the result is equal', () => {
  const { different } = compare(
    { a: { actions: ['update'], before: {}, after: { size: 2 } } },
    { a: { actions: ['delete', 'create'], before: {}, after: { size: 2 } } },
  );
  expect(different.map(({ kind, notes }) => [kind, ...notes])).toEqual([
    ['replace', 'the other plan has it as update'],
  ]);
});

it('a value that is sensitive in one of the plans is hidden on both sides', () => {
  const marked = { after_sensitive: { password: true } };
  const { different } = compare(
    { a: create({ password: 'SECRET' }) },
    { a: create({ password: '(sensitive value)' }, marked) },
  );
  expect(different).toHaveLength(1);
  expect(JSON.stringify(different.flatMap(rowsOf))).not.toContain('SECRET');
});
