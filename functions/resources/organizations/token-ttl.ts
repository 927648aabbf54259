import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Organization } from './records.ts';
import type { PolicyType } from './token-ttl-record.ts';

/** Maximum lifetimes of an organization's tokens (HCP API: token TTL policies). */

/** Sets the given policies; others stay. Undefined when the organization is deleted. */
export const setTokenTtls = (
  { name, tokenTtls = {} }: Organization,
  change: ReadonlyMap<PolicyType, number>,
): Promise<Organization | undefined> => {
  const at = now();
  const changed = [...change].map(([type, maxTtlMs]) => [
    type,
    { maxTtlMs, createdAt: tokenTtls[type]?.createdAt ?? at, updatedAt: at },
  ]);
  return update<Organization>(keys.organization(name), {
    set: { tokenTtls: { ...tokenTtls, ...Object.fromEntries(changed) } },
    condition: 'attribute_exists(pk) AND attribute_not_exists(deletedAt)',
  });
};

const typeOf: Record<string, PolicyType | undefined> = {
  organization: 'organization',
  team: 'team',
  'audit-trails': 'audit_trails',
};

/** Latest expiry of a token created now; undefined without a policy. */
export const latestExpiry = (kind: string, { tokenTtls }: Pick<Organization, 'tokenTtls'>): string | undefined => {
  const type = typeOf[kind];
  const policy = type && tokenTtls?.[type];
  return policy && new Date(Date.now() + policy.maxTtlMs).toISOString();
};
