export interface User {
  id: string;
  /** Nobody else has it, or had it (usernames.ts). */
  username: string;
  /** All that are kept for the user, in lower case. Absent in what was stored before names were unique. */
  usernames?: Set<string>;
  /** Verified by the issuer, or vouched for by the operator; empty when neither. */
  email: string;
  /** Entered by the user, and not verified: only the user sees it. */
  unconfirmedEmail?: string;
  createdAt: string;
  /** Was invited and has not signed in yet (invitations.ts). */
  invitedAt?: string;
  /** Nobody: the account that tokens of a team or an organization act as (accounts.ts). */
  service?: { organization: string; teamId?: string };
}
