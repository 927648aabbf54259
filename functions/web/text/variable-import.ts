import type { Resource } from '../../client/client.ts';
import { literalText, readTfvars, readTfvarsJson } from '../../tfvars.ts';

type Variable = Resource<'vars'>;

/** What a pasted file would do to one variable. */
export interface ImportedVariable {
  key: string;
  /** As it is kept: a text, or an expression with `hcl`. */
  value: string;
  hcl: boolean;
  /** `hidden`: the value that it has is sensitive, so that nobody can compare. */
  state: 'new' | 'changed' | 'hidden' | 'same';
  existing: Variable | undefined;
  /** Name of a set that gives it another value now. */
  overrides: string | undefined;
  looksSecret: boolean;
}

const secret = /passw|secret|token|credential|private[_-]?key|api[_-]?key|access[_-]?key/i;

/** Text in quotes as text; whatever else as the expression that it is. */
const kept = (expression: string): { value: string; hcl: boolean } => {
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
 * @param own the variables of the workspace or set itself
 * @param ofSets what sets give it, with the name of each one's set
 * @throws {TfvarsError} which says where the text is no file of variables
 */
export const importOf = (text: string, own: Variable[], ofSets: [Variable, set: string][]): ImportedVariable[] => {
  const read = text.trimStart().startsWith('{') ? readTfvarsJson : readTfvars;
  const isFor = (key: string) => (variable: Variable) =>
    variable.attributes.key === key && variable.attributes.category === 'terraform';
  return read(text).map(({ key, value: expression }) => {
    const { value, hcl } = kept(expression);
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
