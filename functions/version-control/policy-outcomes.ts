import { getPolicySet } from '#resources/policies/set-records.ts';
import { getPolicySetVersion } from '#resources/policies/set-version-records.ts';
import type { Outcome } from './status-words.ts';

/** Outcomes of policy sets with a version from the commit, for its status. */

/** Stored below the commit, beside its runs. */
export interface VersionOfCommit {
  policySetVersionId: string;
}

export const versionsAmong = <T extends object>(rows: (T | VersionOfCommit)[]): VersionOfCommit[] =>
  rows.flatMap((row) => ('policySetVersionId' in row ? [row] : []));

const outcomeOf = async ({ policySetVersionId }: VersionOfCommit): Promise<Outcome | undefined> => {
  const version = await getPolicySetVersion(policySetVersionId);
  const set = version && (await getPolicySet(version.policySetId));
  if (!set) return undefined;
  const { id, name } = set;
  const about = { kind: 'policy set', context: `policy-sets/${name}`, page: `/settings/policy-sets/${id}` } as const;
  if (version.status === 'ready') return { ...about, state: 'success', description: `Policies of ${name} are ready` };
  if (version.status !== 'errored') return { ...about, state: 'pending', description: `Reading policies of ${name}` };
  return { ...about, state: 'failure', description: `Policies of ${name} could not be read` };
};

/** Outcomes of existing versions. 2 reads each. */
export const outcomesOfPolicies = async (rows: VersionOfCommit[]): Promise<Outcome[]> =>
  (await Promise.all(rows.map(outcomeOf))).filter((outcome) => outcome !== undefined);
