import { parseHcl } from '#platform/formats/hcl.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import type { FrozenVariable } from '#resources/runs/inputs.ts';
import type { ArchiveFile } from './archive.ts';

/** Terraform variables of a template: declarations in its files, and the values for a version's import. */

export interface Variable {
  name: string;
  description: string;
  /** Type as declared: `string`, `list(string)`; empty for any. */
  type: string;
  /** An HCL expression; absent when there is none. */
  defaultValue?: string | undefined;
  sensitive: boolean;
  required: boolean;
  /** Value given with the version; encrypted when sensitive. */
  value?: string;
  sealed?: Uint8Array;
}

const quoted = /^"((?:[^"\\$%]|\\.)*)"$/s;

/** The text of a literal string; other expressions unchanged. */
const plain = (expression: string): string => {
  const [, inner] = quoted.exec(expression) ?? [];
  if (inner === undefined) return expression;
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return inner;
  }
};

/** Variables of the root module, as in Terraform. */
export const declaredVariables = (files: ArchiveFile[]): Variable[] => {
  const declared = new Map<string, Variable>();
  for (const { content } of files.filter(({ name }) => !name.includes('/') && name.endsWith('.tf'))) {
    for (const { type, labels, attributes } of parseHcl(content.toString('utf8')).blocks) {
      const [label] = labels;
      if (type !== 'variable' || !label) continue;
      declared.set(label, {
        name: label,
        description: plain(attributes.description ?? ''),
        type: (attributes.type ?? '').replaceAll(/\s+/g, ' '),
        defaultValue: attributes.default && plain(attributes.default),
        sensitive: attributes.sensitive === 'true',
        required: attributes.default === undefined,
      });
    }
  }
  return [...declared.values()];
};

const contextOf = (versionId: string, name: string): SecretContext => ({ 'template-version': versionId, name });

/** 1 KMS request per sensitive variable. */
export const withValue = async (versionId: string, variable: Variable, value: string): Promise<Variable> =>
  variable.sensitive
    ? { ...variable, sealed: await seal(value, contextOf(versionId, variable.name)) }
    : { ...variable, value };

/**
 * Reads the value of another version's variable, so that a new version can use it. 1 KMS request for a sensitive
 * variable.
 */
export const openValue = async (versionId: string, { name, value, sealed }: Variable): Promise<string | undefined> =>
  sealed ? open(sealed, contextOf(versionId, name)) : value;

/** For these types Terraform reads a value as text, for all others as an expression. */
const isPlain = (type: string): boolean => /^(|string|number|bool)$/.test(type);

/** Variables in the form that a run stores. Encrypted values stay encrypted. */
export const frozenVariables = (versionId: string, variables: Variable[]): FrozenVariable[] =>
  variables.flatMap(({ name, type, sensitive, value, sealed }): FrozenVariable[] => {
    const common = { key: name, category: 'terraform' as const, hcl: !isPlain(type), sensitive };
    if (sealed) {
      return [{ ...common, sealed: Buffer.from(sealed).toString('base64'), context: contextOf(versionId, name) }];
    }
    return value === undefined ? [] : [{ ...common, value }];
  });

/** The value of the provider's `start_count`, for templates that declare such a variable. */
export const startCount = (variables: Variable[], starts: boolean): FrozenVariable[] =>
  variables.some(({ name }) => name === 'start_count')
    ? [{ key: 'start_count', value: starts ? '1' : '0', category: 'terraform', hcl: false, sensitive: false }]
    : [];
