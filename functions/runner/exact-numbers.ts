/**
 * Plans have numbers that JavaScript would round, such as ids of 64 bits: they are text while a plan is worked on, and numbers
 * again when it is written.
 */

const mark = '\0number ';
const written = /"\\u0000number (-?\d[\d.eE+-]*)"/g;
/** JavaScript keeps 15 digits of any number. */
const long = /\d{16}|\d\.\d{15}|\d{2}\.\d{14}|\d{3,}\.\d{8}/;

export const isExactNumber = (value: unknown): boolean => typeof value === 'string' && value.startsWith(mark);

/** ECMAScript: JSON.parse source text access. */
type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const exactly: Reviver = (_, value, context) => {
  const source = context?.source ?? '';
  return typeof value === 'number' && long.test(source) && String(value) !== source ? `${mark}${source}` : value;
};

export const parseExactly = <T>(text: string): T =>
  JSON.parse(text, long.test(text) ? (exactly as Parameters<typeof JSON.parse>[1]) : undefined) as T;

export const stringifyExactly = (value: unknown): string => JSON.stringify(value).replaceAll(written, '$1');
