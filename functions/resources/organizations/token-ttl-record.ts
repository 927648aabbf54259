/** Stored token TTL policies (token-ttl.ts). */

export const policyTypes = ['organization', 'team', 'user', 'audit_trails'] as const;
export type PolicyType = (typeof policyTypes)[number];

export interface TokenTtl {
  maxTtlMs: number;
  createdAt: string;
  updatedAt: string;
}

/** Two years of 365.2425 days: the default lifetime of tokens, and their default maximum (HCP Terraform). */
export const defaultTtlMs = 63_113_904_000;

/** Maximum lifetime of tokens in milliseconds, by kind. */
export type TokenLimits = Record<PolicyType, number>;

export interface TtlPolicies {
  /** Absent in records from before the attribute existed, whose policies apply. */
  maxTtlEnabled?: boolean;
  tokenTtls?: Partial<Record<PolicyType, TokenTtl>>;
}

/** Undefined while the organization does not limit lifetimes. */
export const tokenLimits = ({ maxTtlEnabled, tokenTtls }: TtlPolicies): TokenLimits | undefined => {
  if (!(maxTtlEnabled ?? tokenTtls !== undefined)) return undefined;
  const limits = policyTypes.map((type) => [type, tokenTtls?.[type]?.maxTtlMs ?? defaultTtlMs]);
  return Object.fromEntries(limits) as TokenLimits;
};

/** The policy for a kind of token; undefined for kinds without one. */
export const policyTypeOf = (kind: string): PolicyType | undefined =>
  policyTypes.find((type) => type === kind.replace('-', '_'));

/** @param lifetimeMs from creation to expiry; absent for sessions, which have no policy */
export const outlives = (kind: string, lifetimeMs: number | undefined, limits: TokenLimits | undefined): boolean => {
  const type = policyTypeOf(kind);
  return lifetimeMs !== undefined && type !== undefined && limits !== undefined && lifetimeMs > limits[type];
};
