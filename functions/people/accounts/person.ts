/** For whom the issuer vouches. */
export interface Person {
  issuer: string;
  /** Never given to somebody else by this issuer, unlike an e-mail address (OpenID Connect Core 1.0 §5.7). */
  subject: string;
  email?: string;
  emailVerified: boolean;
  username?: string;
  /** Names of groups; undefined when the issuer could not tell. */
  groups?: string[];
}
