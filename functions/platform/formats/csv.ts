/** CSV (RFC 4180) of whatever the platform exports: the explorer, the audit trail, lists of the command line. */

/** Spreadsheets take a cell that begins so for a formula, the wide forms too (OWASP: CSV injection). */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
/** Which is no formula, whatever it begins with. */
const plainNumber = /^[+-]?\d+(\.\d+)?$/;

const asText = (text: string): string => (formula.test(text) && !plainNumber.test(text) ? `'${text}` : text);

/**
 * A formula becomes text by the apostrophe in front of it.
 * @param always whether it is quoted where it does not have to be
 */
export const csvCell = (value: unknown, always = false): string => {
  const text = asText(String(value ?? ''));
  return always || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The heading first; each line has an end. */
export const csvOf = (heading: readonly string[], rows: readonly (readonly unknown[])[], always = false): string =>
  [heading, ...rows].map((row) => `${row.map((value) => csvCell(value, always)).join(',')}\r\n`).join('');
