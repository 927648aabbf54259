import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvOfRows } from '#features/explorer/csv.ts';
import {
  fields,
  type Kind,
  type Operator,
  operators,
  type QueryType,
  queryTypes,
  type Row,
  type Value,
} from '#features/explorer/fields.ts';
import { filterRows, sortRows } from '#features/explorer/query.ts';

/** Every field with every operator of its kind, compared with a deliberately simple evaluator. */

const words = fc.constantFrom('', 'a', 'A', 'net', 'network', 'a.b', '1.9.0', '1.10.0', 'é, "x"\n', 'true', '0');
const times = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2025-12-31T23:00:00.000-02:00');
const values: Record<Kind, fc.Arbitrary<Value>> = {
  text: words,
  number: fc.integer({ min: -3, max: 3 }),
  boolean: fc.boolean(),
  time: times,
};

const rowOf = (type: QueryType): fc.Arbitrary<Row> =>
  fc.record(
    Object.fromEntries(
      Object.entries(fields[type]).map(([name, kind]) => [name, fc.option(values[kind as Kind], { nil: null })]),
    ),
  );

const asNumber = (kind: Kind, value: Value) => (kind === 'time' ? new Date(String(value)).getTime() : Number(value));

/** Evaluates by cases. */
const holds = (kind: Kind, value: Value, operator: Operator, wanted: string): boolean => {
  const isNothing = value === null || value === '';
  if (operator === 'is_empty') return isNothing;
  if (operator === 'is_not_empty') return !isNothing;
  if (operator === 'is') return !isNothing && String(value) === wanted;
  if (operator === 'is_not') return isNothing || String(value) !== wanted;
  const part = (value === null ? '' : String(value)).toLowerCase().indexOf(wanted.toLowerCase()) >= 0;
  if (operator === 'contains') return part;
  if (operator === 'does_not_contain') return !part;
  if (isNothing) return false;
  const [one, other] = [asNumber(kind, value), asNumber(kind, wanted)];
  if (operator === 'gt' || operator === 'is_after') return one > other;
  if (operator === 'lt' || operator === 'is_before') return one < other;
  return operator === 'gteq' ? one >= other : one <= other;
};

const all = queryTypes.flatMap((type) =>
  Object.entries(fields[type]).flatMap(([field, kind]) =>
    operators[kind as Kind].map((operator) => [type, field, kind as Kind, operator] as const),
  ),
);

it.each(all)('%s: %s (%s) %s', (type, field, kind, operator) => {
  fc.assert(
    fc.property(fc.array(rowOf(type), { maxLength: 8 }), values[kind], (rows, value) => {
      const wanted = String(value);
      const found = filterRows(rows, { type, filters: [{ field, operator, value: wanted }] });
      expect(found).toEqual(rows.filter((row) => holds(kind, row[field] ?? null, operator, wanted)));
    }),
    { numRuns: 40 },
  );
});

it('a query requires all filters to match', () => {
  const rows: Row[] = [
    { version: '1.0', workspace_count: 1 },
    { version: '1.1', workspace_count: 2 },
    { version: '2.0', workspace_count: 2 },
  ];
  const filters = [
    { field: 'version', operator: 'contains' as const, value: '1.' },
    { field: 'workspace_count', operator: 'gt' as const, value: '1' },
  ];
  expect(filterRows(rows, { type: 'tf_versions', filters })).toEqual([rows[1]]);
});

it('a query sorts by several fields, versions numerically, and empty values last', () => {
  const rows: Row[] = ['1.10.0', null, '1.9.0', '1.10.0'].map((version, n) => ({ version, n }));
  const order = (...sort: string[]) => sortRows(rows, sort).map(({ n }) => n);
  expect(order()).toEqual([0, 1, 2, 3]);
  expect(order('version')).toEqual([2, 0, 3, 1]);
  expect(order('-version')).toEqual([0, 3, 2, 1]);
  expect(order('-version', '-n')).toEqual([3, 0, 2, 1]);
});

/** Parses RFC 4180 character by character. */
const parsed = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const one = text[i];
    if (quoted && one === '"' && text[i + 1] === '"') cell += text[++i];
    else if (one === '"') quoted = !quoted;
    else if (!quoted && one === ',') {
      row.push(cell);
      cell = '';
    } else if (!quoted && one === '\r') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      i++;
    } else cell += one;
  }
  return rows;
};

/** Cells that spreadsheets would evaluate as a formula start with an apostrophe: test/platform/formats/csv.test.ts. */
const bare = (cell: string): string => cell.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, '');

it.each(queryTypes)('CSV of %s parses back to the same rows', (type) => {
  const columns = Object.keys(fields[type]);
  fc.assert(
    fc.property(fc.array(rowOf(type), { maxLength: 5 }), (rows) => {
      const expected = rows.map((row) => columns.map((name) => bare(String(row[name] ?? ''))));
      expect(parsed(csvOfRows(rows, columns)).map((row) => row.map(bare))).toEqual([columns, ...expected]);
    }),
    { numRuns: 50 },
  );
});
