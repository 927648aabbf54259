import { unprocessable } from '#api/errors.ts';
import { compilePolicies } from './compilation.ts';
import type { PolicyContent } from './content.ts';
import { getPolicies, type Policy } from './records.ts';
import { frozen } from './run-policies.ts';
import { type PolicySet, toolVersionOf } from './set-records.ts';
import { getPolicySetVersion } from './set-version-records.ts';

/** Compiles policies that were uploaded before they met the engine of a set. */

type Engine = Pick<PolicySet, 'kind' | 'policyToolVersion'>;

const check = async (set: Engine, content: Partial<PolicyContent>, pointer: string): Promise<void> => {
  const { error } = await compilePolicies({ ...content, kind: set.kind, toolVersion: toolVersionOf(set) });
  if (error !== undefined) throw unprocessable(pointer, `The policies do not compile in this set: ${error}`);
};

/** Policies without a source are compiled at their upload. @throws {ApiError} 422 */
export const checkPolicies = async (set: Engine, policies: Policy[], pointer: string): Promise<void> => {
  const uploaded = policies.filter(({ contentKey }) => contentKey);
  if (uploaded.length > 0) await check(set, { policies: uploaded.map(frozen) }, pointer);
};

/** The policies that a set has, with another engine. @throws {ApiError} 422 */
export const checkEngine = async (set: PolicySet, engine: Engine, pointer: string): Promise<void> => {
  if (toolVersionOf(engine) === toolVersionOf(set)) return;
  const version = set.currentVersionId ? await getPolicySetVersion(set.currentVersionId) : undefined;
  if (version?.bundleKey) await check(engine, { bundleKey: version.bundleKey }, pointer);
  else await checkPolicies(engine, await getPolicies([...(set.policyIds ?? [])]), pointer);
};
