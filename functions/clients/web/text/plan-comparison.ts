import type { Difference } from '#clients/client/text/plan.ts';
import { rowsOf } from '#clients/client/text/plan-rows.ts';

/** How two plans differ, such as of a pull request before and after a commit. */
export interface Comparison {
  /** Changes that only this plan has. */
  added: Difference[];
  /** Changes that only the other plan has. */
  missing: Difference[];
  /** From the other plan's result to this one's. */
  different: Difference[];
}

const keyOf = ({ address, deposed = '' }: Difference): string => `${address} ${deposed}`;

const changing = (differences: Difference[]): Map<string, Difference> =>
  new Map(differences.flatMap((difference) => (difference.kind === 'same' ? [] : [[keyOf(difference), difference]])));

/** Values that are sensitive in one of the plans are hidden, and those that both hide cannot be compared. */
const between = (other: Difference, one: Difference): Difference => ({
  ...one,
  notes: other.kind === one.kind ? one.notes : [`the other plan has it as ${other.kind}`, ...one.notes],
  change: {
    actions: ['update'],
    before: other.change.after,
    before_unknown: other.change.after_unknown,
    before_sensitive: other.change.after_sensitive,
    after: one.change.after,
    after_unknown: one.change.after_unknown,
    after_sensitive: one.change.after_sensitive,
  },
});

export const comparePlans = (other: Difference[], one: Difference[]): Comparison => {
  const [before, after] = [changing(other), changing(one)];
  const found: Comparison = {
    added: [...after].flatMap(([key, difference]) => (before.has(key) ? [] : [difference])),
    missing: [...before].flatMap(([key, difference]) => (after.has(key) ? [] : [difference])),
    different: [],
  };
  for (const [key, difference] of after) {
    const counterpart = before.get(key);
    if (!counterpart) continue;
    const pair = between(counterpart, difference);
    if (counterpart.kind !== difference.kind || rowsOf(pair).length > 0) found.different.push(pair);
  }
  return found;
};
