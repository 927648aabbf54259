/**
 * JSON of states and plans. A number in Terraform can have any number of digits (64-bit ids, floats); JavaScript keeps
 * about 15. Numbers with more digits keep their text, and `JSON.stringify` writes it unchanged.
 */

/** https://tc39.es/proposal-json-parse-with-source, which TypeScript does not include yet. */
interface SourceJson {
  parse(text: string, reviver: (key: string, value: unknown, context?: { source?: string }) => unknown): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}
const json = JSON as unknown as SourceJson;

/** Nearly all texts have no such number, and checking every number takes several times as long as parsing. */
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

/** Whether it is a number that JavaScript cannot represent exactly. */
export const isExactNumber = (value: unknown): boolean => json.isRawJSON(value);
