/**
 * Writes Terraform configuration in the style of `terraform fmt`. Values are escaped: no name, description or value on the
 * platform can become an expression (Terraform: strings and templates).
 */

/** An expression, such as `tfe_project.a.id`, written unquoted. */
export class Reference {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Value = string | number | boolean | null | undefined | Reference | Value[] | { [key: string]: Value };

/** Arguments, in order; undefined ones are left out. */
export type Body = Record<string, Value>;

export interface Block {
  type: string;
  labels?: string[];
  body: Body;
  blocks?: Block[];
}

const escapes: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

export const quoted = (text: string): string => {
  const escaped = text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern escapes them
    /["\\\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (character) => escapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped.replaceAll(/([$%])\{/g, '$1$1{')}"`;
};

/** In front of an object's first key, `for` begins an expression. */
const isName = (text: string): boolean => /^[A-Za-z_][\w-]*$/.test(text) && text !== 'for';

export const expression = (value: Value): string => {
  if (value instanceof Reference) return value.text;
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(expression).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(
      ([key, element]) => `${isName(key) ? key : quoted(key)} = ${expression(element)}`,
    );
    return entries.length ? `{ ${entries.join(', ')} }` : '{}';
  }
  return String(value ?? null);
};

const linesOf = ({ body, blocks = [] }: Pick<Block, 'body' | 'blocks'>, indent: string): string[] => {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  const lines = entries.map(([name, value]) => `${indent}${name.padEnd(width)} = ${expression(value)}`);
  for (const block of blocks) lines.push(...(lines.length ? [''] : []), ...blockLines(block, indent));
  return lines;
};

const blockLines = (block: Block, indent: string): string[] => {
  const head = [block.type, ...(block.labels ?? []).map(quoted)].join(' ');
  const lines = linesOf(block, `${indent}  `);
  return lines.length ? [`${indent}${head} {`, ...lines, `${indent}}`] : [`${indent}${head} {}`];
};

/** A file of blocks. */
export const hclOf = (blocks: Block[]): string =>
  blocks.map((block) => `${blockLines(block, '').join('\n')}\n`).join('\n');
