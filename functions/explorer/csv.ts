import type { Row } from './fields.ts';

const cell = (value: unknown): string => `"${String(value ?? '').replaceAll('"', '""')}"`;

/** RFC 4180, with a header; every value is quoted, and a missing one is empty. */
export const csvOf = (rows: Row[], columns: string[]): string =>
  [columns.map(cell).join(','), ...rows.map((row) => columns.map((name) => cell(row[name])).join(','))].join('\r\n') +
  '\r\n';
