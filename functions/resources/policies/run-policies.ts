import { getObject, putObject } from '#platform/store/bucket.ts';
import { objects } from '#platform/store/keys.ts';
import { open, type SecretContext } from '#platform/store/secrets.ts';
import { contextOf, listVariables, type Variable } from '#resources/variables/records.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { isEvaluated } from '#run/policies.ts';
import type { FrozenPolicy, PolicyContent } from './content.ts';
import { getPolicies, type Policy } from './records.ts';
import type { ResultKind } from './result-records.ts';
import { type PolicySet, policySetsOf, toolVersionOf } from './set-records.ts';
import { getPolicySetVersion, withNewestVersion } from './set-version-records.ts';

/** The policies that a run has to pass, fixed at its creation. */

type Home = Pick<Workspace, 'id' | 'organization' | 'projectId'> & Partial<Pick<Workspace, 'tags'>>;

/** Facts for the run's `checks`. The sets themselves are in the bucket, under the run's id. */
export interface FrozenPolicies {
  policyEvaluation?: true;
  policyCheck?: true;
}

type FrozenParameter = { key: string } & ({ value: string } | { sealed: string; context: SecretContext });

export interface FrozenPolicySet extends PolicyContent {
  id: string;
  name: string;
  description: string;
  agentEnabled?: true;
  overridable: boolean;
  parameters: FrozenParameter[];
  /** Version of a versioned set. */
  versionId?: string;
}

const freezeParameter = (parameter: Variable): FrozenParameter => {
  const { key, value = '', sealed } = parameter;
  return sealed
    ? { key, sealed: Buffer.from(sealed).toString('base64'), context: contextOf(parameter) }
    : { key, value };
};

export const frozen = ({ name, description, query, enforcementLevel, contentKey }: Policy): FrozenPolicy => ({
  name,
  description: description ?? '',
  query,
  enforcementLevel,
  contentKey,
});

/** The set's current content; undefined while it has no policy to evaluate. */
const contentOf = async (
  set: PolicySet,
): Promise<Pick<FrozenPolicySet, 'versionId' | 'bundleKey' | 'policies'> | undefined> => {
  const { currentVersionId: versionId, newestVersionId, policyIds } = set;
  if (versionId) return { versionId, bundleKey: (await getPolicySetVersion(versionId))?.bundleKey };
  if (newestVersionId || !policyIds?.size) return undefined;
  const policies = await getPolicies([...policyIds]);
  return {
    policies: policies.sort((a, b) => (a.name < b.name ? -1 : 1)).map(frozen),
  };
};

const freeze = async (stored: PolicySet): Promise<FrozenPolicySet | undefined> => {
  const set = await withNewestVersion(stored);
  const [content, parameters] = await Promise.all([contentOf(set), listVariables(set.id)]);
  return (
    content && {
      id: set.id,
      name: set.name,
      description: set.description ?? '',
      kind: set.kind,
      ...(set.agentEnabled ? { agentEnabled: true as const } : {}),
      overridable: set.overridable,
      toolVersion: toolVersionOf(set),
      parameters: parameters.map(freezeParameter),
      ...content,
    }
  );
};

/**
 * Freezes the policies that a new run has to pass, and stores them under its id. When no policy set applies to the
 * workspace, nothing is stored, and the result is empty. Can be repeated.
 */
export const freezePolicies = async (workspace: Home, runId: string, template?: string): Promise<FrozenPolicies> => {
  const applying = await policySetsOf(workspace, template);
  const sets = (await Promise.all(applying.map(freeze))).filter((set) => set !== undefined);
  if (sets.length === 0) return {};
  await putObject(objects.runPolicies(runId), JSON.stringify({ sets }), 'application/json');
  return {
    ...(sets.some(isEvaluated) ? { policyEvaluation: true as const } : {}),
    ...(sets.some((set) => !isEvaluated(set)) ? { policyCheck: true as const } : {}),
  };
};

/** The run's sets for its policy evaluation, or for its policy check. @throws {Error} when they are missing: a run must not continue unchecked */
export const policySetsOfRun = async (runId: string, judged: ResultKind): Promise<FrozenPolicySet[]> => {
  const key = objects.runPolicies(runId);
  const content = await getObject(key);
  if (!content) throw new Error(`the policies of run ${runId} are missing (${key})`);
  const { sets } = JSON.parse(content.toString('utf8')) as { sets: FrozenPolicySet[] };
  return sets.filter((set) => isEvaluated(set) === (judged === 'evaluation'));
};

export interface OpenParameter {
  key: string;
  value: string;
  sensitive: boolean;
}

/** Decrypts the parameters. 1 KMS request per sensitive one. */
export const openParameters = ({ parameters }: FrozenPolicySet): Promise<OpenParameter[]> =>
  Promise.all(
    parameters.map(async (parameter) =>
      'sealed' in parameter
        ? {
            key: parameter.key,
            value: await open(Buffer.from(parameter.sealed, 'base64'), parameter.context),
            sensitive: true,
          }
        : { key: parameter.key, value: parameter.value, sensitive: false },
    ),
  );
