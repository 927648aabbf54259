import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import type { Organization } from './records.ts';
import type { PolicyType } from './token-ttl-record.ts';

/** How long tokens of an organization may be good at most (HCP API: token TTL policies). */

/** Sets some; others stay. Undefined when the organization is gone. */
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

/** When a token that is made now expires at the latest; undefined where no policy says so. */
export const latestExpiry = (kind: string, { tokenTtls }: Pick<Organization, 'tokenTtls'>): string | undefined => {
  const type = typeOf[kind];
  const policy = type && tokenTtls?.[type];
  return policy && new Date(Date.now() + policy.maxTtlMs).toISOString();
};
