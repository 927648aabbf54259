import type { EnforcementLevel, PolicyKind } from '#run/policies.ts';
import { type PolicyBlock, readPolicyBlocks } from './policy-blocks.ts';

/** A policy declared in `policies.hcl`. */
export interface Declared {
  name: string;
  description: string;
  query: string;
  enforcementLevel: EnforcementLevel;
}

export const maxQuery = 1000;

/** Comments may precede a Rego module's first line. */
export const isRego = (source: string): boolean => /^(\s*#.*\n|\s)*package\s/.test(source);

const queryOf = ({ name, text, fail }: PolicyBlock): string => {
  const query = text('query')?.trim();
  if (!query)
    return fail(`policy "${name}" has no query; add the rule to evaluate, e.g. query = "data.terraform.deny"`);
  if (query.length > maxQuery) {
    return fail(`query may have at most ${maxQuery} characters; put the logic into a rule`, 'query');
  }
  return query;
};

/** @throws {PolicySetError} with line and remedy */
export const readPoliciesFile = (content: string, kind: PolicyKind): Declared[] =>
  readPolicyBlocks('policies.hcl', content, ['query', 'enforcement_level', 'description']).map((block) => ({
    name: block.name,
    description: block.text('description') ?? '',
    query: queryOf(block),
    enforcementLevel: block.level(kind),
  }));
