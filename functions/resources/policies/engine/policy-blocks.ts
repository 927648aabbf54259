import { type Block, type File, NestingError, parseHcl } from '#platform/formats/hcl.ts';
import { type EnforcementLevel, enforcementLevels, type PolicyKind } from '#run/policies.ts';

/** The `policy "name" { … }` blocks of a policy set's configuration (HCP docs: policy set configuration). */

/** An error in a policy set's files, for its author. */
export class PolicySetError extends Error {
  override name = 'PolicySetError';
}

/** Maximum number of policies in a set: each is evaluated, and all results are stored. */
export const maxPolicies = 200;

export interface PolicyBlock {
  name: string;
  line: number;
  /** The attribute's text; undefined when it is absent. */
  text(attribute: string): string | undefined;
  level(kind: PolicyKind): EnforcementLevel;
  /** @throws {PolicySetError} about an attribute, or about the block */
  fail(what: string, attribute?: string): never;
}

/** Maximum size in characters: allows a page of text per policy, and is quick to parse. */
const maxDeclaration = 4 * 1024 * 1024;

const parse = (content: string, fail: (line: number, what: string) => never): File => {
  if (content.length > maxDeclaration)
    fail(1, `it has more than ${maxDeclaration} characters, the maximum; create another set`);
  try {
    return parseHcl(content);
  } catch (error) {
    if (!(error instanceof NestingError)) throw error;
    return fail(error.line, error.message);
  }
};

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' };
const escaped = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g;

/** Text of a quoted string without templates. */
const textOf = (name: string, value: string, fail: (what: string) => never): string => {
  const inner = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  if (inner === undefined) return fail(`${name} must be a quoted string, e.g. ${name} = "…"`);
  if (/(?<!\$)\$\{|(?<!%)%\{/.test(inner)) return fail(`${name} must be a plain string, without \${…} or %{…} in it`);
  return inner
    .replaceAll(escaped, (all, four?: string, eight?: string, letter?: string) => {
      const code = Number.parseInt(four ?? eight ?? '', 16);
      const character = code <= 0x10ffff ? String.fromCodePoint(code) : escapes[letter ?? ''];
      return character ?? fail(`${name} has the unknown escape ${all}; write \\\\ for a backslash`);
    })
    .replaceAll(/([$%])\1\{/g, '$1{');
};

/**
 * The policies that a file declares, in its order.
 * @param allowed the attributes that a policy may have
 * @throws {PolicySetError} with file, line and remedy
 */
export const readPolicyBlocks = (file: string, content: string, allowed: readonly string[]): PolicyBlock[] => {
  const fail = (line: number, problem: string): never => {
    throw new PolicySetError(`${file} line ${line}: ${problem}`);
  };
  const read = (block: Block): PolicyBlock => {
    const { attributes, labels, line, lines } = block;
    const [name = ''] = labels;
    if (block.type !== 'policy') fail(line, `unknown block "${block.type}"; only policy "name" { … } is allowed`);
    if (labels.length !== 1 || name === '') fail(line, 'a policy has one name, in quotes: policy "name" { … }');
    const unknown = Object.keys(attributes).find((attribute) => !allowed.includes(attribute));
    if (unknown) fail(lines[unknown] ?? line, `a policy has no "${unknown}"; it has ${allowed.join(', ')}`);
    const [nested] = block.blocks;
    if (nested) fail(nested.line, `a policy has no block "${nested.type}"; remove it`);
    const failAt = (problem: string, attribute = ''): never => fail(lines[attribute] ?? line, problem);
    const text = (attribute: string): string | undefined => {
      const value = attributes[attribute];
      return value === undefined ? undefined : textOf(attribute, value, (problem) => failAt(problem, attribute));
    };
    const level = (kind: PolicyKind): EnforcementLevel => {
      const levels: readonly EnforcementLevel[] = enforcementLevels[kind];
      const chosen = text('enforcement_level') ?? levels[0];
      const level = levels.find((candidate) => candidate === chosen);
      const choices = levels.map((candidate) => `"${candidate}"`).join(', ');
      return (
        level ??
        failAt(`the enforcement_level of a policy of kind ${kind} must be one of ${choices}`, 'enforcement_level')
      );
    };
    return { name, line, text, level, fail: failAt };
  };

  const { attributes, blocks, faults, lines } = parse(content, fail);
  const [fault] = faults.toSorted((a, b) => a - b);
  if (fault) fail(fault, 'this is not valid HCL; check for a missing quote, "=" or closing brace');
  const [stray] = Object.keys(attributes);
  if (stray) fail(lines[stray] ?? 1, `"${stray}" is outside a policy block; write policy "name" { ${stray} = … }`);
  const policies = blocks.map(read);
  const names = new Set<string>();
  for (const { name, line } of policies) {
    if (names.has(name)) fail(line, `policy "${name}" is already declared above; rename one of them`);
    names.add(name);
  }
  if (policies.length === 0) fail(1, `it has no policy; add policy "name" { … } with ${allowed.join(', ')}`);
  const over = policies[maxPolicies];
  if (over) fail(over.line, `a policy set has at most ${maxPolicies} policies; create another set`);
  return policies;
};
