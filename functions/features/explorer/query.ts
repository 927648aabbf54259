import { fieldsOf, type Kind, type Operator, type QueryType, type Row, type Value } from './fields.ts';

/** Filters rows by all filters of a query, and sorts them. Pure. */

export interface Filter {
  field: string;
  operator: Operator;
  /** As sent; `is_empty` and `is_not_empty` ignore it. */
  value: string;
}

export interface Query {
  type: QueryType;
  filters: Filter[];
  /** Names of fields, in the order of columns; empty: all. */
  fields: string[];
  /** Names of fields, with a leading `-` for descending order; the first is the primary key. */
  sort: string[];
}

const isEmpty = (value: Value): boolean => value === null || value === '';

/** The parsed value of a filter; undefined if it is invalid for its kind. */
export const parseValue = (kind: Kind, value: string): Value | undefined => {
  if (kind === 'text') return value;
  if (kind === 'boolean') return value === 'true' ? true : value === 'false' ? false : undefined;
  if (kind === 'number') return /^-?\d{1,15}(\.\d{1,9})?$/.test(value) ? Number(value) : undefined;
  const isTime = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/.test(value);
  const ms = isTime ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};

type Test = (value: Value) => boolean;

const contains =
  (part: string): Test =>
  (value) =>
    String(value ?? '')
      .toLowerCase()
      .includes(part);

const compared =
  (holds: (value: number) => boolean, numberOf: (value: Value) => number = Number): Test =>
  (value) =>
    !isEmpty(value) && holds(numberOf(value));

const msOf = (value: Value): number => Date.parse(String(value));

/** No comparison matches a field without a value. */
const testOf = ({ operator, value }: Filter, kind: Kind): Test => {
  const operand = parseValue(kind, value) ?? null;
  const n = Number(operand);
  const tests: Record<Operator, () => Test> = {
    is: () => (cell) => !isEmpty(cell) && cell === operand,
    is_not: () => (cell) => isEmpty(cell) || cell !== operand,
    contains: () => contains(value.toLowerCase()),
    does_not_contain: () => (cell) => !contains(value.toLowerCase())(cell),
    is_empty: () => isEmpty,
    is_not_empty: () => (cell) => !isEmpty(cell),
    gt: () => compared((cell) => cell > n),
    lt: () => compared((cell) => cell < n),
    gteq: () => compared((cell) => cell >= n),
    lteq: () => compared((cell) => cell <= n),
    is_before: () => compared((cell) => cell < n, msOf),
    is_after: () => compared((cell) => cell > n, msOf),
  };
  return tests[operator]();
};

export const filterRows = (rows: Row[], { type, filters }: Pick<Query, 'type' | 'filters'>): Row[] => {
  const tests = filters.map((filter) => ({
    field: filter.field,
    test: testOf(filter, fieldsOf(type)[filter.field] ?? 'text'),
  }));
  return rows.filter((row) => tests.every(({ field, test }) => test(row[field] ?? null)));
};

/** Sorts `1.9.0` before `1.10.0`. */
const collator = new Intl.Collator('en', { numeric: true });

const compare = (a: Value, b: Value): number =>
  typeof a === 'string' && typeof b === 'string' ? collator.compare(a, b) : Number(a) - Number(b);

/** Rows without a value come last in both directions; the sort is stable. */
export const sortRows = (rows: Row[], sort: string[]): Row[] => {
  const orders = sort.map((name) => ({ field: name.replace(/^-/, ''), sign: name.startsWith('-') ? -1 : 1 }));
  if (orders.length === 0) return rows;
  return rows.toSorted((a, b) => {
    for (const { field, sign } of orders) {
      const [value = null, other = null] = [a[field], b[field]];
      const difference =
        isEmpty(value) || isEmpty(other)
          ? Number(isEmpty(value)) - Number(isEmpty(other))
          : sign * compare(value, other);
      if (difference !== 0) return difference;
    }
    return 0;
  });
};

/** Names of the columns. */
export const columnsOf = ({ type, fields }: Pick<Query, 'type' | 'fields'>): string[] =>
  fields.length ? fields : Object.keys(fieldsOf(type));
