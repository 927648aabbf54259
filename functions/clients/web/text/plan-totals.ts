import type { Difference, Kind } from '#clients/client/text/plan.ts';

type Counts = [name: string, counts: Map<Kind, number>][];

const withoutKeys = (address: string): string => address.replaceAll(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, '');

/** `module.a.aws_vpc.main[0]` → `aws_vpc` */
export const typeOf = (address: string): string => {
  const name = withoutKeys(address).split('.');
  return name.slice(name.at(-3) === 'data' ? -3 : -2, -1).join('.');
};

/** `module.a["x"].module.b.aws_vpc.main` → `module.a.module.b`; empty for the root module. */
export const moduleOf = (address: string): string =>
  /^(?:module\.[^.]+\.)*/.exec(withoutKeys(address))?.[0].slice(0, -1) ?? '';

/** Number of changes by type, largest first. */
export const totalsOf = (differences: Difference[]): Counts => {
  const counts = new Map<string, Map<Kind, number>>();
  for (const { address, kind } of differences) {
    if (kind === 'same') continue;
    const type = typeOf(address);
    const kinds = counts.get(type) ?? new Map<Kind, number>();
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    counts.set(type, kinds);
  }
  const total = (kinds: Map<Kind, number>) => [...kinds.values()].reduce((sum, n) => sum + n, 0);
  return [...counts].sort(([a, x], [b, y]) => total(y) - total(x) || (a < b ? -1 : 1));
};
