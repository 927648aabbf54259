/** A person verified by the issuer. */
export interface Person {
  issuer: string;
  /** Never reassigned by the issuer, unlike an email address (OpenID Connect Core 1.0 §5.7). */
  subject: string;
  email?: string;
  emailVerified: boolean;
  username?: string;
  /** Names of groups; undefined when the issuer did not report any. */
  groups?: string[];
}
