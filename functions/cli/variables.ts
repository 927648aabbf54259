import { readFileSync } from 'node:fs';
import { parseHcl } from '../hcl.ts';
import { declaredVariables } from './cloud-block.ts';
import { wrongUsage } from './exit.ts';

/** Variables of one run, `-var name=value`, as the API takes them: values are expressions of HCL (HCP API: runs). */

export interface RunVariable {
  key: string;
  /** An expression. */
  value: string;
}

/** JSON as an expression that means exactly the same: HCL knows fewer escapes, and templates. */
const expression = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll(/\\[\\"]|\\([bf])/g, (sign, short) =>
      short ? { b: '\\u0008', f: '\\u000c' }[short as 'b' | 'f'] : sign,
    )
    .replaceAll(/[$%](?=\{)/g, (mark) => mark + mark);

/** Terraform reads a value as text for these types, and as an expression for any other. */
const isText = (type: string | undefined): boolean => type === undefined || /^(string|number|bool)$/.test(type);

/** Without its declaration, a value that begins as a list or an object is one. */
const looksLikeText = (value: string): boolean => !/^\s*[[{]/.test(value);

const ofFile = (path: string): RunVariable[] => {
  const text = readFileSync(path, 'utf8');
  if (!path.endsWith('.json')) {
    const { attributes, blocks, faults } = parseHcl(text);
    const [fault] = [...faults, ...blocks.map(({ line }) => line)];
    if (fault) throw wrongUsage(`${path}, line ${fault}: give each variable as name = value`);
    return Object.entries(attributes).map(([key, value]) => ({ key, value }));
  }
  try {
    return Object.entries(JSON.parse(text) as object).map(([key, value]) => ({ key, value: expression(value) }));
  } catch (error) {
    throw wrongUsage(`${path} is not a JSON object of variables: ${(error as Error).message}`);
  }
};

/** What files give (`-var-file`), a later one before an earlier one. @throws {CommandError} */
export const fileVariables = (paths: string[]): RunVariable[] => paths.flatMap(ofFile);

/** Each once: the last one given counts. */
export const lastOfEach = (variables: RunVariable[]): RunVariable[] => [
  ...new Map(variables.map((variable) => [variable.key, variable])).values(),
];

/** @throws {CommandError} */
export const runVariables = (options: string[], folder: string): RunVariable[] => {
  const declared = options.length ? declaredVariables(folder) : new Map<string, string | undefined>();
  return options.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw wrongUsage(`--var ${text}: give it as name=value`);
    const key = text.slice(0, at).trim();
    const value = text.slice(at + 1);
    const plain = declared.has(key) ? isText(declared.get(key)) : looksLikeText(value);
    return { key, value: plain ? expression(value) : value };
  });
};
