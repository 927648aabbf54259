import { readFileSync } from 'node:fs';
import { expressionOf, readTfvars, readTfvarsJson, TfvarsError } from '../tfvars.ts';
import { declaredVariables } from './cloud-block.ts';
import { wrongUsage } from './exit.ts';

/** Variables of one run, `-var name=value`, as the API takes them: values are expressions of HCL (HCP API: runs). */

export interface RunVariable {
  key: string;
  /** An expression. */
  value: string;
}

/** Terraform reads a value as text for these types, and as an expression for any other. */
const isText = (type: string | undefined): boolean => type === undefined || /^(string|number|bool)$/.test(type);

/** Without its declaration, a value that begins as a list or an object is one. */
const looksLikeText = (value: string): boolean => !/^\s*[[{]/.test(value);

const ofFile = (path: string): RunVariable[] => {
  const text = readFileSync(path, 'utf8');
  try {
    return path.endsWith('.json') ? readTfvarsJson(text) : readTfvars(text);
  } catch (error) {
    if (error instanceof TfvarsError) throw wrongUsage(`${path}: ${error.message}`);
    throw error;
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
    return { key, value: plain ? expressionOf(value) : value };
  });
};
