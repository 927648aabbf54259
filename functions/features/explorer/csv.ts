import { csvOf } from '#platform/formats/csv.ts';
import type { Row } from './fields.ts';

/** With a header; every value is quoted, and a missing one is empty. */
export const csvOfRows = (rows: Row[], columns: string[]): string =>
  csvOf(
    columns,
    rows.map((row) => columns.map((name) => row[name])),
    true,
  );
