import type { Difference, Kind } from '#clients/client/text/plan.ts';

type Counts = [name: string, counts: Map<Kind, number>][];

const typeOf = (address: string): string => {
  const name = address.replaceAll(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, '').split('.');
  return name.slice(name.at(-3) === 'data' ? -3 : -2, -1).join('.');
};

/** `module.a["x"].module.b` without its keys; `root`. */
const moduleOf = (address: string): string =>
  /^(?:module\.[^.]+\.)+/
    .exec(address.replaceAll(/\[(?:\d+|"(?:[^"\\]|\\.)*")\]/g, ''))?.[0]
    .slice(0, -1)
    .replaceAll('module.', '') ?? 'root';

const counted = (differences: Difference[], nameOf: (address: string) => string): Counts => {
  const counts = new Map<string, Map<Kind, number>>();
  for (const { address, kind } of differences) {
    const name = nameOf(address);
    const kinds = counts.get(name) ?? new Map<Kind, number>();
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    counts.set(name, kinds);
  }
  const total = (kinds: Map<Kind, number>) => [...kinds.values()].reduce((sum, n) => sum + n, 0);
  return [...counts].sort(([a, x], [b, y]) => total(y) - total(x) || (a < b ? -1 : 1));
};

/** Number of changes by type and by module, largest first. */
export const totalsOf = (differences: Difference[]): { types: Counts; modules: Counts } => {
  const changing = differences.filter(({ kind }) => kind !== 'same');
  return { types: counted(changing, typeOf), modules: counted(changing, moduleOf) };
};
