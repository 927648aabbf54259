import { readFileSync } from 'node:fs';
import { expressionOf, readTfvars, readTfvarsJson, TfvarsError } from '#platform/formats/tfvars.ts';
import { declaredVariables } from './cloud-block.ts';
import { wrongUsage } from './exit.ts';

/** Variables of one run, `-var name=value`, in the API's form: values are HCL expressions (HCP API: runs). */

export interface RunVariable {
  key: string;
  /** An HCL expression. */
  value: string;
}

/** Terraform reads values of these types as text, of all others as an expression. */
const isText = (type: string | undefined): boolean => type === undefined || /^(string|number|bool)$/.test(type);

/** For undeclared variables: a value that starts like a list or an object is an expression. */
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

/** Variables from files (`-var-file`); later files override earlier ones. @throws {CommandError} */
export const fileVariables = (paths: string[]): RunVariable[] => paths.flatMap(ofFile);

/** The last value of a name wins. */
export const lastOfEach = (variables: RunVariable[]): RunVariable[] => [
  ...new Map(variables.map((variable) => [variable.key, variable])).values(),
];

/** @throws {CommandError} */
export const runVariables = (options: string[], folder: string): RunVariable[] => {
  const declared = declaredVariables(folder);
  return options.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw wrongUsage(`--var ${text}: give it as name=value`);
    const key = text.slice(0, at).trim();
    const value = text.slice(at + 1);
    const plain = declared.has(key) ? isText(declared.get(key)) : looksLikeText(value);
    return { key, value: plain ? expressionOf(value) : value };
  });
};
