export interface User {
  id: string;
  /** Unique; never given to another user, even after a change (usernames.ts). */
  username: string;
  /** All names reserved for the user, in lower case. Absent until the first one is. */
  usernames?: Set<string>;
  /** Verified by the issuer or the operator; empty otherwise. */
  email: string;
  /** Entered by the user and not verified: only the user sees it. */
  unconfirmedEmail?: string;
  createdAt: string;
  /** Was invited and has not signed in yet (invitations.ts). */
  invitedAt?: string;
  /** An identity provider made the user a site administrator until then (organizations/admission-rules.ts). */
  siteAdminUntil?: string;
  /** Set for an account, not a person, that tokens of a team or organization act as (accounts.ts). */
  service?: { organization: string; teamId?: string };
}
