/** A person verified by an identity provider. */
export interface Person {
  issuer: string;
  /** Never reassigned by the issuer, unlike an email address (OpenID Connect Core 1.0 §5.7). */
  subject: string;
  email?: string;
  emailVerified: boolean;
  username?: string;
  /** Names of groups; undefined when the issuer did not report any. */
  groups?: string[];
  /** Undefined when the issuer does not decide it. */
  isSiteAdmin?: boolean;
  /** End of the session at the issuer, which the session here must not outlive. */
  sessionEndsAt?: string;
  /** Time after this sign-in in which the user's API tokens work, and rights as a site administrator last. */
  tokensLastSeconds?: number;
}
