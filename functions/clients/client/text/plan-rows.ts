import { marksAny, type Secrets, valueAt } from '#platform/formats/marks.ts';
import { visible } from '#platform/text/visible.ts';
import type { Difference } from './plan.ts';

/** Changes of one resource or output, by attribute. */

/** One side of a row: text, or a placeholder for a value. */
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

type Path = (string | number)[];

const shown = (path: Path): string =>
  path
    .map((key, i) => {
      if (typeof key === 'number') return `[${key}]`;
      if (/^[A-Za-z_][\w-]*$/.test(key)) return i ? `.${key}` : key;
      return visible(i ? `[${JSON.stringify(key)}]` : key);
    })
    .join('');

/** Multi-line text and JSON strings are formatted for reading. */
const textOf = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2) ?? 'null';
  if (/^\s*[[{]/.test(value)) {
    try {
      return JSON.stringify(JSON.parse(value), null, 2);
    } catch {
      // Not JSON after all.
    }
  }
  return value.includes('\n') ? value : JSON.stringify(value);
};

const sideOf = (value: unknown, sensitive: boolean, unknown: boolean, secrets: Secrets | undefined): Side => {
  if (!isMissing(value) && (sensitive || secrets?.isIn(value))) return { hidden: 'sensitive' };
  if (unknown) return { hidden: 'known after apply' };
  return isMissing(value) ? undefined : { text: visible(textOf(value)) };
};

interface Node {
  path: Path;
  before: unknown;
  after: unknown;
  unknown: unknown;
  wasUnknown: unknown;
  beforeSensitive: unknown;
  afterSensitive: unknown;
}

const keysOf = (...values: unknown[]): (string | number)[] => {
  const lists = values.filter(Array.isArray);
  if (lists.length) return Array.from({ length: Math.max(...lists.map((list) => list.length)) }, (_, i) => i);
  return [...new Set(values.filter(isObject).flatMap(Object.keys))].sort();
};

const isPlainList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every((element) => typeof element !== 'object' || element === null);

/** Elements that only one of the lists contains. An inserted element is one row, and does not change the rows after it. */
const onlyInOne = (before: unknown[], after: unknown[]) => {
  const left = [...before];
  const added = after.flatMap((value, i) => {
    const at = left.indexOf(value);
    if (at < 0) return [{ value, i }];
    left.splice(at, 1);
    return [];
  });
  const removed = left.map((value) => ({ value, i: before.indexOf(value) }));
  return { added, removed };
};

/** Compares lists with lists and objects with objects; a value that changed its type is shown as a whole. */
const areAlike = (...values: unknown[]): boolean => {
  const presentValues = values.filter((value) => !isMissing(value));
  return presentValues.every(Array.isArray) || presentValues.every(isObject);
};

/** Collects the changed leaves of a resource or output. */
class Rows {
  readonly found: Row[] = [];
  readonly #forcing: string[];
  readonly #secrets: Secrets | undefined;

  constructor(forcing: Path[], secrets: Secrets | undefined) {
    this.#forcing = forcing.map(shown);
    this.#secrets = secrets;
  }

  #add(path: Path, before: Side, after: Side): void {
    const name = shown(path);
    const forces = this.#forcing.some(
      (path) => name === path || (name.startsWith(path) && /^[.[]/.test(name.slice(path.length))),
    );
    const shownPath = path.map((key) => (this.#secrets?.isIn(key) ? '(sensitive)' : key));
    this.found.push({ path: shown(shownPath), before, after, forces });
  }

  #side(value: unknown, marks: unknown, unknown = false): Side {
    return sideOf(value, marksAny(marks), unknown, this.#secrets);
  }

  /** @returns whether the change is described completely */
  #list({ path, before, after, unknown, wasUnknown, beforeSensitive, afterSensitive }: Node): boolean {
    if (!isPlainList(before) || !isPlainList(after)) return false;
    if ([unknown, wasUnknown, beforeSensitive, afterSensitive].some(marksAny)) return false;
    const { added, removed } = onlyInOne(before, after);
    for (const { value, i } of removed) this.#add([...path, i], this.#side(value, false), undefined);
    for (const { value, i } of added) this.#add([...path, i], undefined, this.#side(value, false));
    return added.length + removed.length > 0 || same(before, after);
  }

  walk(node: Node): void {
    const { path, before, after, unknown, wasUnknown, beforeSensitive, afterSensitive } = node;
    const sensitive = beforeSensitive === true || afterSensitive === true;
    const branches = [before, after, unknown, wasUnknown].some(isBranch);
    if (!sensitive && unknown !== true && wasUnknown !== true && branches && areAlike(before, after)) {
      if (this.#list(node)) return;
      for (const key of keysOf(before, after, unknown, wasUnknown)) {
        this.walk({
          path: [...path, key],
          before: valueAt(before, key),
          after: valueAt(after, key),
          unknown: valueAt(unknown, key),
          wasUnknown: valueAt(wasUnknown, key),
          beforeSensitive: valueAt(beforeSensitive, key),
          afterSensitive: valueAt(afterSensitive, key),
        });
      }
      return;
    }
    const isUnknown = unknown === true;
    const isSame = same(before, after) || (isMissing(before) && isMissing(after));
    if (isUnknown === (wasUnknown === true) && (isUnknown || isSame)) return;
    // Values that are sensitive on one side are hidden on both.
    const marks = [beforeSensitive, afterSensitive];
    this.#add(
      path,
      this.#side(before, marks, wasUnknown === true),
      this.#side(after, isUnknown ? false : marks, isUnknown),
    );
  }
}

export const rowsOf = ({ change, secrets }: Pick<Difference, 'change' | 'secrets'>): Row[] => {
  const rows = new Rows(change.replace_paths ?? [], secrets);
  rows.walk({
    path: [],
    before: change.before,
    after: change.after,
    unknown: change.after_unknown,
    wasUnknown: change.before_unknown,
    beforeSensitive: change.before_sensitive,
    afterSensitive: change.after_sensitive,
  });
  // Why a resource is replaced comes first.
  return rows.found.sort((a, b) => Number(b.forces) - Number(a.forces));
};
