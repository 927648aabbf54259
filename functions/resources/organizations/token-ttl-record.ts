/** Stored token TTL policies (token-ttl.ts). */

export const policyTypes = ['organization', 'team', 'audit_trails'] as const;
export type PolicyType = (typeof policyTypes)[number];

export interface TokenTtl {
  maxTtlMs: number;
  createdAt: string;
  updatedAt: string;
}
