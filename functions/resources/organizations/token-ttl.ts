import { unprocessable } from '#api/errors.ts';
import type { Principal } from '#api/permissions/principal.ts';
import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';

import { updateRecord } from '#platform/store/records.ts';
import { now } from '#platform/store/time.ts';
import { applyRules } from '#resources/users/memberships.ts';
import { callersIn } from './callers.ts';
import type { Organization } from './records.ts';
import { outlives, type PolicyType, policyTypeOf, type TtlPolicies, tokenLimits } from './token-ttl-record.ts';

/** Maximum lifetimes of an organization's tokens (HCP API: token TTL policies). */

/** Sets the given policies; others stay. Undefined when the organization is deleted. */
export const setTokenTtls = (
  { name, tokenTtls }: Organization,
  change: TtlPolicies['tokenTtls'],
): Promise<Organization | undefined> =>
  updateRecord<Organization>(keys.organization(name), { set: { tokenTtls: { ...tokenTtls, ...change } } });

/** Policies as they are stored after a change. */
export const changedTtls = (
  { tokenTtls = {} }: Organization,
  change: ReadonlyMap<PolicyType, number>,
): NonNullable<TtlPolicies['tokenTtls']> => {
  const at = now();
  const changed = [...change].map(([type, maxTtlMs]) => [
    type,
    { maxTtlMs, createdAt: tokenTtls[type]?.createdAt ?? at, updatedAt: at },
  ]);
  return Object.fromEntries(changed);
};

/**
 * Copies the limits to all memberships, so that authorization takes one read: tokens that exceed them stop working.
 * 1 write per member and team; can be repeated.
 */
export const carryTokenLimits = async (organization: Organization): Promise<void> => {
  const rules = { tokenLimits: tokenLimits(organization) };
  await inBatches(await callersIn(organization), (userId) =>
    applyRules({ userId, organization: organization.name }, rules),
  );
};

/**
 * A caller cannot set limits that their own token exceeds: perhaps no other token of an owner would work afterwards.
 * @throws {ApiError} 422
 */
export const checkOwnToken = ({ kind, lifetimeMs }: Principal, next: TtlPolicies, pointer: string): void => {
  if (!outlives(kind, lifetimeMs, tokenLimits(next))) return;
  throw unprocessable(
    pointer,
    'the token of this request is valid for longer than these policies allow, and would stop working. Use a token with an earlier expiry',
  );
};

/** Latest expiry of a token created now; undefined without a policy. Users' tokens are not of one organization. */
export const latestExpiry = (kind: string, organization: TtlPolicies): string | undefined => {
  const type = policyTypeOf(kind);
  const limits = tokenLimits(organization);
  return type && type !== 'user' && limits ? new Date(Date.now() + limits[type]).toISOString() : undefined;
};
