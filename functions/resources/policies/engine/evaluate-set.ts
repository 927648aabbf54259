import { Mask, secretsOf } from '#platform/formats/mask.ts';
import type { EnforcementLevel, PolicySetOutcome } from '#run/policies.ts';
import type { FrozenPolicy, PolicyContent } from '../content.ts';
import { readPolicy } from '../records.ts';
import { type FrozenPolicySet, openParameters } from '../run-policies.ts';
import { readBundle } from '../set-version-records.ts';
import type { Engine, InputFile, Limits, PolicyAnswer, SourceFile } from './engine.ts';
import { findOpa, findSentinel } from './find-engine.ts';
import { isRego } from './policies-file.ts';
import { judge } from './result.ts';
import { isOld } from './set-files.ts';

/** A policy with its query: the Rego rule, or the file of a Sentinel policy. */
interface PolicyQuery {
  name: string;
  description: string;
  query: string;
  enforcementLevel: EnforcementLevel;
}

/** Policies that are loaded together. */
interface Group {
  language: 'rego' | 'sentinel';
  policies: PolicyQuery[];
  files: SourceFile[];
  /** Reason for a missing query. */
  error?: string;
}

/** An individually managed policy is loaded alone, so that it cannot break others. */
const single = async (policy: FrozenPolicy, kind: FrozenPolicySet['kind']): Promise<Group> => {
  const { query, ...rest } = policy;
  const source = await readPolicy(policy);
  const rego = kind === 'opa' || (source !== undefined && isRego(source));
  const path = rego ? 'policy.rego' : 'policy.sentinel';
  const group: Group = {
    language: rego ? 'rego' : 'sentinel',
    policies: [{ ...rest, query: rego ? (query ?? '') : path }],
    files: [{ path, content: source ?? '' }],
  };
  if (source === undefined) return { ...group, error: 'it has no source; upload it' };
  if (rego && !query) return { ...group, error: 'it has no query; set the rule to evaluate, e.g. data.terraform.deny' };
  return group;
};

export const groupsOf = async ({ bundleKey, policies = [], kind }: PolicyContent): Promise<Group[]> => {
  if (!bundleKey) return Promise.all(policies.map((policy) => single(policy, kind)));
  const bundle = await readBundle(bundleKey);
  if (bundle.language === 'rego') return [bundle];
  return [{ ...bundle, policies: bundle.policies.map(({ source, ...rest }) => ({ ...rest, query: source })) }];
};

/** An engine from before 1.0 reads the older Rego without a flag. */
export const languageVersion = ({ version }: Engine, toolVersion: string): string =>
  isOld(version) ? '' : toolVersion;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const emptyOutcome = (set: FrozenPolicySet): PolicySetOutcome => ({
  policySetId: set.id,
  policySetName: set.name,
  policySetDescription: set.description,
  kind: set.kind,
  overridable: set.overridable,
  policyToolVersion: '',
  outcomes: [],
  warnings: [],
});

/** @param error reason why no policy of the set can be evaluated */
export const unevaluated = (set: FrozenPolicySet, error: string): PolicySetOutcome => ({ ...emptyOutcome(set), error });

/**
 * Evaluates a set. A policy that cannot be evaluated fails; that is an outcome, never an exception.
 * @throws {Error} when its content cannot be read
 */
export const evaluateSet = async (
  set: FrozenPolicySet,
  input: InputFile,
  limits: Limits,
): Promise<PolicySetOutcome> => {
  const [groups, variables] = await Promise.all([groupsOf(set), openParameters(set)]);
  const parameters = Object.fromEntries(variables.map(({ key, value }) => [key, value]));
  // Results and errors of policies may repeat sensitive input.
  const mask = new Mask(secretsOf(variables));
  const outcome = emptyOutcome(set);
  const engines = new Map<Group['language'], Engine>();
  try {
    for (const { language } of groups) {
      if (!engines.has(language))
        engines.set(language, await (language === 'rego' ? findOpa : findSentinel)(set.toolVersion));
    }
  } catch (error) {
    return unevaluated(set, messageOf(error));
  }
  for (const group of groups) {
    const engine = engines.get(group.language) as Engine;
    outcome.policyToolVersion = engine.version;
    const toolVersion = languageVersion(engine, set.toolVersion);
    const { answers, warnings } = group.error
      ? { answers: group.policies.map(() => ({ error: group.error as string })), warnings: [] }
      : await engine.evaluate({ ...group, parameters, input, toolVersion, limits }).catch((error: unknown) => ({
          answers: group.policies.map(() => ({ error: `it could not be evaluated: ${messageOf(error)}` })),
          warnings: [],
        }));
    outcome.warnings.push(...mask.json(warnings));
    for (const [i, { name, description, query, enforcementLevel }] of group.policies.entries()) {
      const answer = mask.json<PolicyAnswer>(answers[i] ?? { error: 'the engine returned no result' });
      const queried = group.language === 'rego' ? { query } : {};
      outcome.outcomes.push({ policyName: name, description, ...queried, enforcementLevel, ...judge(answer, query) });
    }
  }
  return outcome;
};
