import { declaredVariables } from './cloud-block.ts';
import { wrongUsage } from './exit.ts';

/** Variables of one run, `-var name=value`, as the API takes them: values are expressions of HCL (HCP API: runs). */

/** A string of HCL that means exactly this text. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll(/[$%](?=\{)/g, (mark) => mark + mark);

/** Terraform reads a value as text for these types, and as an expression for any other. */
const isText = (type: string | undefined): boolean => type === undefined || /^(string|number|bool)$/.test(type);

/** Without its declaration, a value that begins as a list or an object is one. */
const looksLikeText = (value: string): boolean => !/^\s*[[{]/.test(value);

/** @throws {CommandError} */
export const runVariables = (given: string[], folder: string): { key: string; value: string }[] => {
  const declared = given.length ? declaredVariables(folder) : new Map<string, string | undefined>();
  return given.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw wrongUsage(`--var ${text}: give it as name=value`);
    const key = text.slice(0, at).trim();
    const value = text.slice(at + 1);
    const plain = declared.has(key) ? isText(declared.get(key)) : looksLikeText(value);
    return { key, value: plain ? quoted(value) : value };
  });
};
