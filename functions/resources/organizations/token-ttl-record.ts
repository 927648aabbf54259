/** Stored token TTL policies (token-ttl.ts). */

export const policyTypes = ['organization', 'team', 'user', 'audit_trails'] as const;
export type PolicyType = (typeof policyTypes)[number];

export interface TokenTtl {
  maxTtlMs: number;
  createdAt: string;
  updatedAt: string;
}

/** Two years of 365.2425 days: the default maximum (tfe provider: tfe_org_max_token_ttl_policy). */
export const defaultTtlMs = 63_113_904_000;

/** Maximum lifetime of tokens in milliseconds, by kind. */
export type TokenLimits = Record<PolicyType, number>;

export interface TtlPolicies {
  maxTtlEnabled: boolean;
  tokenTtls?: Partial<Record<PolicyType, TokenTtl>>;
}

/** Undefined while the organization does not limit lifetimes. */
export const tokenLimits = ({ maxTtlEnabled, tokenTtls }: TtlPolicies): TokenLimits | undefined => {
  if (!maxTtlEnabled) return undefined;
  const limits = policyTypes.map((type) => [type, tokenTtls?.[type]?.maxTtlMs ?? defaultTtlMs]);
  return Object.fromEntries(limits) as TokenLimits;
};

/** The policy for a kind of token; undefined for kinds without one. */
export const policyTypeOf = (kind: string): PolicyType | undefined =>
  policyTypes.find((type) => type === kind.replace('-', '_'));

const dayMs = 86_400_000;

/** Calendar years, the default lifetime of tokens, may have a leap day; the tfe provider's have 365 days. */
const leapDayMs = (limitMs: number): number => (limitMs >= 365 * dayMs ? dayMs : 0);

/** @param lifetimeMs from creation to expiry; absent for sessions, which have no policy */
export const outlives = (kind: string, lifetimeMs: number | undefined, limits: TokenLimits | undefined): boolean => {
  const type = policyTypeOf(kind);
  if (lifetimeMs === undefined || type === undefined || limits === undefined) return false;
  return lifetimeMs > limits[type] + leapDayMs(limits[type]);
};
