import type { Difference } from './plan.ts';

/** What changes of one resource or output, attribute by attribute. */

/** One side of a row: text to show as it is, or what stands for a value. */
export type Side = { text: string } | { hidden: 'sensitive' | 'known after apply' } | undefined;

export interface Row {
  path: string;
  before: Side;
  after: Side;
  /** This difference makes Terraform replace the resource. */
  forces: boolean;
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isMissing = (value: unknown): boolean => value === null || value === undefined;
const isBranch = (value: unknown): value is Json | unknown[] =>
  (Array.isArray(value) && value.length > 0) || (isObject(value) && Object.keys(value).length > 0);

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

const part = (value: unknown, key: string | number): unknown => {
  if (value === true) return true;
  if (Array.isArray(value)) return value[key as number];
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};

type Path = (string | number)[];

const shown = (path: Path): string =>
  path
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      if (/^[A-Za-z_][\w-]*$/.test(key)) return i ? `.${key}` : key;
      return i ? `[${JSON.stringify(key)}]` : key;
    })
    .join('');

/** Text of several lines and JSON in a string read better laid out. */
const textOf = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? 'null';
  if (/^\s*[[{]/.test(value)) {
    try {
      return JSON.stringify(JSON.parse(value), null, 2);
    } catch {
      // It only looks like it.
    }
  }
  return value.includes('\n') ? value : JSON.stringify(value);
};

const sideOf = (value: unknown, sensitive: boolean, unknown: boolean): Side => {
  if (sensitive && !isMissing(value)) return { hidden: 'sensitive' };
  if (unknown) return { hidden: 'known after apply' };
  return isMissing(value) ? undefined : { text: textOf(value) };
};

interface Node {
  path: Path;
  before: unknown;
  after: unknown;
  unknown: unknown;
  beforeSensitive: unknown;
  afterSensitive: unknown;
}

const keysOf = (...values: unknown[]): (string | number)[] => {
  const lists = values.filter(Array.isArray);
  if (lists.length) return Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) => i);
  return [...new Set(values.filter(isObject).flatMap(Object.keys))].sort();
};

/** Terraform marks each element of a list, with false too. */
const marksAny = (marks: unknown): boolean =>
  marks === true || (typeof marks === 'object' && marks !== null && Object.values(marks).some(marksAny));

const isPlainList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null);

/** Of two lists of plain values what only one of them has: an element put in front is one row, not a row each. */
const listRows = ({ path, before, after }: Node, forces: boolean): Row[] => {
  const left = [...(before as unknown[])];
  const added = (after as unknown[]).flatMap((value, i) => {
    const at = left.indexOf(value);
    if (at < 0) return [{ value, i }];
    left.splice(at, 1);
    return [];
  });
  const removed = left.map((value) => ({ value, i: (before as unknown[]).indexOf(value) }));
  return [
    ...removed.map(
      ({ value, i }): Row => ({ path: shown([...path, i]), before: { text: textOf(value) }, after: undefined, forces }),
    ),
    ...added.map(
      ({ value, i }): Row => ({ path: shown([...path, i]), before: undefined, after: { text: textOf(value) }, forces }),
    ),
  ];
};

/** What changes of a resource or an output, leaf by leaf. */
export const rowsOf = ({ change }: Pick<Difference, 'change'>): Row[] => {
  const rows: Row[] = [];
  const forcing = (change.replace_paths ?? []).map((path) => shown(path));
  const forces = (path: string): boolean =>
    forcing.some((one) => path === one || (path.startsWith(one) && /^[.[]/.test(path.slice(one.length))));
  const walk = (node: Node): void => {
    const { path, before, after, unknown, beforeSensitive, afterSensitive } = node;
    const sensitive = beforeSensitive === true || afterSensitive === true;
    const name = shown(path);
    const whole = sensitive || unknown === true;
    if (!whole && (isBranch(before) || isBranch(after) || isBranch(unknown))) {
      const compound = (value: unknown) => isMissing(value) || typeof value === 'object';
      if (compound(before) && compound(after)) {
        if (isPlainList(before) && isPlainList(after) && ![unknown, beforeSensitive, afterSensitive].some(marksAny)) {
          const found = listRows(node, forces(name));
          if (found.length || same(before, after)) {
            rows.push(...found);
            return;
          }
        }
        for (const key of keysOf(before, after, unknown)) {
          walk({
            path: [...path, key],
            before: part(before, key),
            after: part(after, key),
            unknown: part(unknown, key),
            beforeSensitive: part(beforeSensitive, key),
            afterSensitive: part(afterSensitive, key),
          });
        }
        return;
      }
    }
    const isUnknown = unknown === true;
    if (!isUnknown && (same(before, after) || (isMissing(before) && isMissing(after)))) return;
    rows.push({
      path: name,
      before: sideOf(before, sensitive, false),
      after: sideOf(after, sensitive && !isUnknown, isUnknown),
      forces: forces(name),
    });
  };
  walk({
    path: [],
    before: change.before,
    after: change.after,
    unknown: change.after_unknown,
    beforeSensitive: change.before_sensitive,
    afterSensitive: change.after_sensitive,
  });
  return rows;
};
