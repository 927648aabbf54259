import { type Block, type Body, parseHcl } from '#platform/formats/hcl.ts';

/** The declarations in the Terraform files of one folder (Terraform: module registry protocol, details of a module). */

export interface Input {
  name: string;
  type: string;
  description: string;
  /** HCL text; empty when the input is required. */
  default: string;
  required: boolean;
  sensitive?: boolean;
  ephemeral?: boolean;
  /** The values that a validation of the variable allows, if it lists them. */
  allowed?: string[];
}

export interface ModuleContent {
  path: string;
  name: string;
  readme: string;
  empty: boolean;
  inputs: Input[];
  outputs: { name: string; description: string; sensitive?: boolean; ephemeral?: boolean }[];
  dependencies: { name: string; source: string; version: string }[];
  provider_dependencies: { name: string; namespace: string; source: string; version: string }[];
  resources: { name: string; type: string }[];
}

/** `"text"` → `text`; other expressions stay as they are. */
const unquoted = (expression = ''): string => {
  const [, text] = /^"((?:[^"\\]|\\.)*)"$/s.exec(expression) ?? [];
  if (text === undefined) return /^<<-?\w+\r?\n/.test(expression) ? heredoc(expression) : expression;
  return text.replaceAll(/\\(["\\nt])/g, (_, letter: string) => ({ n: '\n', t: '\t' })[letter] ?? letter);
};

const heredoc = (expression: string): string => expression.split(/\r?\n/).slice(1, -1).join('\n');

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Blocks and attributes of a `.tf.json` file, where labels are levels of objects. */
const bodyOfJson = (text: string): Body => {
  const parsed: unknown = JSON.parse(text);
  const blocks: Body['blocks'] = [];
  const expression = (value: unknown) => JSON.stringify(value);
  const add = (type: string, labels: string[], content: unknown): void => {
    for (const item of [content].flat()) {
      if (!isObject(item)) continue;
      const attributes = Object.fromEntries(Object.entries(item).map(([name, value]) => [name, expression(value)]));
      blocks.push({ type, labels, line: 1, lines: {}, attributes, blocks: nestedProviders(type, item) });
    }
  };
  const nestedProviders = (type: string, block: Json): Body['blocks'] =>
    type === 'terraform' && isObject(block.required_providers)
      ? [
          {
            type: 'required_providers',
            labels: [],
            line: 1,
            lines: {},
            attributes: Object.fromEntries(
              Object.entries(block.required_providers).map(([name, value]) => [name, expression(value)]),
            ),
            blocks: [],
          },
        ]
      : [];
  const levels: Record<string, number> = { variable: 1, output: 1, module: 1, resource: 2, data: 2, terraform: 0 };
  const walk = (type: string, labels: string[], value: unknown, deep: number): void => {
    if (deep === 0) add(type, labels, value);
    else if (isObject(value))
      for (const [label, inner] of Object.entries(value)) walk(type, [...labels, label], inner, deep - 1);
  };
  if (isObject(parsed)) for (const [type, deep] of Object.entries(levels)) walk(type, [], parsed[type], deep);
  return { attributes: {}, lines: {}, blocks };
};

/** Undefined for a file that cannot be parsed: Terraform reports its errors when the module is used. */
const bodyOf = (name: string, text: string): Body | undefined => {
  try {
    return name.endsWith('.json') ? bodyOfJson(text) : parseHcl(text);
  } catch {
    return undefined;
  }
};

const providersOf = (body: Body): ModuleContent['provider_dependencies'] =>
  body.blocks
    .filter(({ type }) => type === 'terraform')
    .flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'required_providers'))
    .flatMap(({ attributes }) =>
      Object.entries(attributes).map(([name, text]) => {
        const part = (key: string) => new RegExp(`["{,\\s]${key}"?\\s*[=:]\\s*"([^"]*)"`).exec(text)?.[1] ?? '';
        const source = part('source') || `hashicorp/${name}`;
        const version = text.startsWith('"') ? unquoted(text) : part('version');
        return { name, namespace: source.split('/').at(-2) ?? 'hashicorp', source, version };
      }),
    );

const marksOf = ({ sensitive, ephemeral }: Record<string, string>): Pick<Input, 'sensitive' | 'ephemeral'> => ({
  ...(sensitive === 'true' ? { sensitive: true } : {}),
  ...(ephemeral === 'true' ? { ephemeral: true } : {}),
});

const literal = /^("(?:[^"\\$%]|\\.)*"|-?\d+(?:\.\d+)?)\s*(?:,|$)\s*/;

/** `contains(["small", "large"], var.size)` → `small`, `large`; undefined for other conditions. */
const listedIn = (condition: string | undefined, name: string): string[] | undefined => {
  const [, list, variable] = /^contains\(\s*\[([^\]]*)\],\s*var\.([\w-]+)\s*\)$/.exec(condition ?? '') ?? [];
  if (list === undefined || variable !== name) return undefined;
  const values: string[] = [];
  for (let rest = list.trim(); rest; ) {
    const [whole, value] = literal.exec(rest) ?? [];
    if (!whole || value === undefined) return undefined;
    values.push(unquoted(value));
    rest = rest.slice(whole.length);
  }
  return values.length > 0 ? values : undefined;
};

const allowedBy = ({ labels: [name = ''], blocks }: Block): Pick<Input, 'allowed'> => {
  const lists = blocks.flatMap(({ type, attributes: { condition } }) =>
    type === 'validation' ? (listedIn(condition, name) ?? []) : [],
  );
  return lists.length > 0 ? { allowed: lists } : {};
};

/** @param files by name, of one folder */
export const contentOfFolder = (path: string, name: string, files: Map<string, string>): ModuleContent => {
  const bodies = [...files].flatMap(([file, text]) => (/\.tf(\.json)?$/.test(file) ? (bodyOf(file, text) ?? []) : []));
  const blocks = bodies.flatMap((body) => body.blocks);
  const named = (type: string) => blocks.filter((block) => block.type === type && block.labels.length > 0);
  const readme = [...files].find(([file]) => /^readme\.md$/i.test(file))?.[1] ?? '';
  return {
    path,
    name,
    readme,
    empty: bodies.length === 0,
    inputs: named('variable').map(({ attributes, ...block }) => ({
      name: block.labels[0] as string,
      type: unquoted(attributes.type) || 'any',
      description: unquoted(attributes.description),
      default: attributes.default ?? '',
      required: attributes.default === undefined,
      ...marksOf(attributes),
      ...allowedBy({ attributes, ...block }),
    })),
    outputs: named('output').map(({ labels, attributes }) => ({
      name: labels[0] as string,
      description: unquoted(attributes.description),
      ...marksOf(attributes),
    })),
    dependencies: named('module').map(({ labels, attributes }) => ({
      name: labels[0] as string,
      source: unquoted(attributes.source),
      version: unquoted(attributes.version),
    })),
    provider_dependencies: bodies.flatMap(providersOf),
    resources: named('resource').map(({ labels }) => ({ name: labels[1] ?? '', type: labels[0] as string })),
  };
};
