import { getObject, putObject } from '#platform/store/bucket.ts';
import { hashSecret as digestOf, newId } from '#platform/store/id.ts';
import { keys, objects } from '#platform/store/keys.ts';
import { listNames, recordsAt } from '#platform/store/records.ts';
import { remove, updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { createNamedRecord, releaseName, type UniqueNames } from '#platform/store/unique-names.ts';
import type { EnforcementLevel, PolicyKind } from '#run/policies.ts';

/** Individually managed policies (HCP API: policies). The policies of a versioned policy set are in its archive. */
export interface Policy {
  id: string;
  organization: string;
  name: string;
  description: string | null;
  kind: PolicyKind;
  /** The Rego rule to evaluate; null for Sentinel. */
  query: string | null;
  enforcementLevel: EnforcementLevel;
  /** Key of its source: a new object for each upload, so that a run keeps the source it was created with. */
  contentKey?: string;
  /** Why its source or a later query was not compiled; absent if they compile. */
  uncompiled?: string;
  createdAt: string;
  updatedAt: string;
  /** The sets it belongs to. The sets' own items are authoritative. */
  policySetIds?: Set<string>;
}

export type PolicySettings = Pick<Policy, 'description' | 'query' | 'enforcementLevel'>;

/** Maximum size of a policy's source: it passes through the API's function. */
export const maxPolicyBytes = 4 * 1024 * 1024;

export const { read: getPolicy, readAll: getPolicies } = recordsAt<Policy>(keys.policy);

const names: UniqueNames<Policy> = {
  key: ({ organization, name }) => keys.policyName(organization, name),
  find: getPolicy,
};

/** Undefined when the organization already has a policy with this name. */
export const createPolicy = async (
  settings: PolicySettings & Pick<Policy, 'organization' | 'name' | 'kind'>,
): Promise<Policy | undefined> => {
  const at = now();
  const policy: Policy = { ...settings, id: newId('pol'), createdAt: at, updatedAt: at };
  return createNamedRecord(names, policy, keys.policy(policy.id));
};

/** @param change `uncompiled: undefined` if it compiles now. @returns undefined when the policy was deleted */
export const updatePolicy = (
  { id }: Pick<Policy, 'id'>,
  change: Partial<PolicySettings> | Pick<Policy, 'contentKey' | 'uncompiled'>,
): Promise<Policy | undefined> =>
  updateExisting<Policy>(keys.policy(id), {
    set: { ...change, updatedAt: now() },
    remove: 'uncompiled' in change && change.uncompiled === undefined ? ['uncompiled'] : [],
  });

/** Stores a source, which the policy does not have yet. Returns its key. */
export const storeSource = async ({ id }: Policy, source: string): Promise<string> => {
  const contentKey = objects.policyContent(id, digestOf(source));
  await putObject(contentKey, source, 'text/plain; charset=utf-8');
  return contentKey;
};

/** Its source; undefined before the first upload. */
export const readPolicy = async ({ contentKey }: Pick<Policy, 'contentKey'>): Promise<string | undefined> =>
  contentKey ? (await getObject(contentKey))?.toString('utf8') : undefined;

/** The caller removes the policy from its sets first. Existing runs keep it. */
export const deletePolicy = async (policy: Policy): Promise<void> => {
  await remove(keys.policy(policy.id));
  await releaseName(names, policy);
};

/** Records whether the set contains the policy. */
export const notePolicySets = async (id: string, setId: string, belongs: boolean): Promise<void> => {
  const member = { policySetIds: new Set([setId]) };
  await updateExisting(keys.policy(id), { ...(belongs ? { add: member } : { delete: member }) });
};

/** Ordered by name. */
export const listPolicyNames = (organization: string) => listNames(organization, 'POLICY#');
