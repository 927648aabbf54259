import { type File, NestingError, parseHcl } from './hcl.ts';

/** Files of variables (`.tfvars`, and `.tfvars.json`): https://developer.hashicorp.com/terraform/language/values/variables */

export interface FileVariable {
  key: string;
  /** An HCL expression. */
  value: string;
}

export class TfvarsError extends Error {
  override name = 'TfvarsError';
}

/** The HCL expression for a JSON value: HCL has fewer escapes, and interprets templates. */
export const expressionOf = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll(/\\[\\"]|\\([bf])/g, (sign, short) =>
      short ? { b: '\\u0008', f: '\\u000c' }[short as 'b' | 'f'] : sign,
    )
    .replaceAll(/[$%](?=\{)/g, (mark) => mark + mark);

const fileOf = (text: string): File => {
  try {
    return parseHcl(text);
  } catch (error) {
    if (error instanceof NestingError) throw new TfvarsError(error.message);
    throw error;
  }
};

/** @throws {TfvarsError} with the line */
export const readTfvars = (text: string): FileVariable[] => {
  const { attributes, lines, blocks, faults, repeated } = fileOf(text);
  const empty = Object.keys(attributes).flatMap((key) => (attributes[key]?.trim() ? [] : [lines[key] ?? 1]));
  const [fault] = [...faults, ...empty, ...blocks.map(({ line }) => line)].sort((a, b) => a - b);
  if (fault) throw new TfvarsError(`line ${fault}: give each variable as name = value`);
  if (repeated[0]) throw new TfvarsError(`line ${repeated[0]}: give each variable once`);
  return Object.entries(attributes).map(([key, value]) => ({ key, value }));
};

/** @throws {TfvarsError} */
export const readTfvarsJson = (text: string): FileVariable[] => {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch (error) {
    throw new TfvarsError(`it is not a JSON object of variables: ${(error as Error).message}`);
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw new TfvarsError('it is not a JSON object of variables');
  return Object.entries(values).map(([key, value]) => ({ key, value: expressionOf(value) }));
};

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };
const escaped = /\\(?:([nrt"\\])|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([$%])\4\{/g;
const quoted = /^"((?:[^"\\\n]|\\.)*)"$/;
const plainHeredoc = /^<<([\p{ID_Start}_][\p{ID_Continue}-]*)[ \t]*\r?\n([\s\S]*?)^[ \t]*\1$/mu;

/** The text in quotes or in a heredoc without a template; undefined for any other expression. */
export const literalText = (expression: string): string | undefined => {
  const heredoc = plainHeredoc.exec(expression);
  const text = heredoc && heredoc[0].length === expression.length ? heredoc[2] : quoted.exec(expression)?.[1];
  if (text === undefined || /(?<!\$)\$\{|(?<!%)%\{/.test(text)) return undefined;
  if (heredoc) return text.replaceAll(/([$%])\1\{/g, '$1{');
  // Terraform itself reports invalid escapes.
  if (/\\[^nrt"\\uU]/.test(text.replaceAll('\\\\', ''))) return undefined;
  return text.replaceAll(escaped, (_, short?: string, four?: string, eight?: string, mark?: string) => {
    if (mark) return `${mark}{`;
    return short ? (escapes[short] as string) : String.fromCodePoint(Number.parseInt(four ?? eight ?? '', 16));
  });
};
