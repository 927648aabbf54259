/**
 * JSON of states and plans: Terraform's numbers have any number of digits (ids of 64 bits, floats with all of theirs), and
 * JavaScript's some 15. Those with more stay as they are written, and `JSON.stringify` writes them so.
 */

/** https://tc39.es/proposal-json-parse-with-source, which TypeScript does not know yet. */
interface SourceJson {
  parse(text: string, reviver: (key: string, value: unknown, context?: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}
const json = JSON as unknown as SourceJson;

/** Nearly no text has such a number, and to look at each number takes several times as long as parsing. */
const mayHaveLong = /[:[,]\s*-?(?:\d[\d.]{15,}|[\d.]+[eE])/;

const significantDigits = 15;

const isLong = (source: string, value: number): boolean =>
  !Number.isSafeInteger(value) &&
  source
    .replace(/[eE].*/, '')
    .replace(/^-?[0.]*/, '')
    .replace('.', '').length > significantDigits;

export const mayHaveLongNumbers = (text: string): boolean => mayHaveLong.test(text);

/** @throws {SyntaxError} */
export const parseExactly = (text: string): unknown => {
  if (!mayHaveLongNumbers(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source = '' } = {}) =>
    typeof value === 'number' && (isLong(source, value) || !Number.isFinite(value)) ? json.rawJSON(source) : value,
  );
};

/** A number that JavaScript has no exact one for. */
export const isExactNumber = (value: unknown): boolean => json.isRawJSON(value);
