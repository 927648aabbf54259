import fc from 'fast-check';
import { expect, it } from 'vitest';
import { byPrecedence, ownRank, type Ranked, rankOf, runRank, type SetFacts } from '#run/variable-precedence.ts';

/** High to low, in the order of the documentation (HCP Terraform: variable precedence). */
const documented: [string, number | SetFacts][] = [
  ['priority global set', { priority: true, projectOwned: false, scopes: ['global'] }],
  ['priority set of the organization, on the project', { priority: true, projectOwned: false, scopes: ['project'] }],
  [
    'priority set of the organization, on the workspace',
    { priority: true, projectOwned: false, scopes: ['workspace'] },
  ],
  ['priority set of the project, on the project', { priority: true, projectOwned: true, scopes: ['project'] }],
  ['priority set of the project, on the workspace', { priority: true, projectOwned: true, scopes: ['workspace'] }],
  ['the run', runRank],
  ['the workspace', ownRank],
  ['set of the project, on the workspace', { priority: false, projectOwned: true, scopes: ['workspace'] }],
  ['set of the project, on the project', { priority: false, projectOwned: true, scopes: ['project'] }],
  ['set of the organization, on the workspace', { priority: false, projectOwned: false, scopes: ['workspace'] }],
  ['set of the organization, on the project', { priority: false, projectOwned: false, scopes: ['project'] }],
  ['global set', { priority: false, projectOwned: false, scopes: ['global'] }],
];

it('variables have the documented ranks', () => {
  const ranks = documented.map(([, facts]) => (typeof facts === 'number' ? facts : rankOf(facts)));
  expect(ranks).toEqual([...ranks].sort((a, b) => b - a));
  expect(new Set(ranks).size).toBe(documented.length);
});

it('a set has the highest precedence of its scopes', () => {
  const both = { projectOwned: false, scopes: ['workspace', 'project'] } as const;
  expect(rankOf({ ...both, priority: false })).toBe(rankOf({ ...both, priority: false, scopes: ['workspace'] }));
  expect(rankOf({ ...both, priority: true })).toBe(rankOf({ ...both, priority: true, scopes: ['project'] }));
});

it('sets of equal rank are ordered by name, in a total order', () => {
  const ranked = fc.record({ rank: fc.nat(11), name: fc.string({ maxLength: 3 }) });
  fc.assert(
    fc.property(fc.array(ranked, { minLength: 1 }), (sets: Ranked[]) => {
      const winner = [...sets].sort(byPrecedence).at(-1) as Ranked;
      const top = Math.max(...sets.map(({ rank }) => rank));
      const first = sets
        .filter(({ rank }) => rank === top)
        .map(({ name }) => name)
        .sort()[0];
      expect(winner).toEqual({ rank: top, name: first });
      expect(byPrecedence(winner, { ...winner })).toBe(0);
    }),
  );
});
