import type { Resource } from '#clients/client/client.ts';
import { literalText, readTfvars, readTfvarsJson } from '#platform/formats/tfvars.ts';

type Variable = Resource<'vars'>;

/** The change that a pasted file makes to one variable. */
export interface ImportedVariable {
  key: string;
  /** Value to store: text, or an expression with `hcl`. */
  value: string;
  hcl: boolean;
  /** `hidden`: the current value is sensitive and cannot be compared. */
  state: 'new' | 'changed' | 'hidden' | 'same';
  existing: Variable | undefined;
  /** Name of a variable set that currently gives it another value. */
  overrides: string | undefined;
  looksSecret: boolean;
}

const secret = /passw|secret|token|credential|private[_-]?key|api[_-]?key|access[_-]?key/i;

/** Quoted strings become text, everything else an expression. */
const storedValue = (expression: string): { value: string; hcl: boolean } => {
  const text = literalText(expression);
  return text === undefined ? { value: expression, hcl: true } : { value: text, hcl: false };
};

const stateOf = (existing: Variable | undefined, value: string, hcl: boolean): ImportedVariable['state'] => {
  if (!existing) return 'new';
  const { attributes } = existing;
  if (attributes.sensitive) return 'hidden';
  return attributes.value === value && attributes.hcl === hcl ? 'same' : 'changed';
};

/**
 * @param own variables of the workspace or set itself
 * @param ofSets variables from sets, with the name of the set
 * @throws {TfvarsError} with the line of a syntax error
 */
export const importOf = (text: string, own: Variable[], ofSets: [Variable, set: string][]): ImportedVariable[] => {
  const read = text.trimStart().startsWith('{') ? readTfvarsJson : readTfvars;
  const isFor = (key: string) => (variable: Variable) =>
    variable.attributes.key === key && variable.attributes.category === 'terraform';
  return read(text).map(({ key, value: expression }) => {
    const { value, hcl } = storedValue(expression);
    const existing = own.find(isFor(key));
    return {
      key,
      value,
      hcl,
      existing,
      state: stateOf(existing, value, hcl),
      overrides: existing ? undefined : ofSets.find(([variable]) => isFor(key)(variable))?.[1],
      looksSecret: secret.test(key),
    };
  });
};
