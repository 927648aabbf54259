import { csvOf } from '#platform/formats/csv.ts';
import type { Row } from './fields.ts';

/** CSV with a header; every value is quoted, and missing values are empty. */
export const csvOfRows = (rows: Row[], columns: string[]): string =>
  csvOf(
    columns,
    rows.map((row) => columns.map((name) => row[name])),
    true,
  );
