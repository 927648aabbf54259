/** CSV (RFC 4180) for all exports: the explorer, the audit trail, lists of the command line. */

/**
 * Spreadsheets interpret a cell with such a first character as a formula, also in its full-width form (OWASP: CSV
 * injection).
 */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
/** A number is not a formula, even with a sign. */
const plainNumber = /^[+-]?\d+(\.\d+)?$/;

const asText = (text: string): string => (formula.test(text) && !plainNumber.test(text) ? `'${text}` : text);

/**
 * Prefixes a formula with an apostrophe, which makes it text.
 * @param always quotes cells that do not need quotes
 */
export const csvCell = (value: unknown, always = false): string => {
  const text = asText(String(value ?? ''));
  return always || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The heading comes first; every line is terminated. */
export const csvOf = (heading: readonly string[], rows: readonly (readonly unknown[])[], always = false): string =>
  [heading, ...rows].map((row) => `${row.map((value) => csvCell(value, always)).join(',')}\r\n`).join('');
