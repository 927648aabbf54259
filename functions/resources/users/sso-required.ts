import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import { type Membership, membershipsAndInvitationsOf } from './memberships.ts';

/** Memberships of organizations that require single sign-on (organizations/sso-required.ts). */

const noteIn = async (userId: string, from: 'linked' | 'unlinked', to: 'linked' | 'unlinked'): Promise<void> => {
  for (const { organization, ssoRequired } of await membershipsAndInvitationsOf(userId)) {
    if (ssoRequired !== from) continue;
    await update<Membership>(keys.membership(userId, organization), {
      set: { ssoRequired: to },
      condition: 'ssoRequired = :from',
      values: { ':from': from },
    });
  }
};

/** Call after the user signed in at the issuer: the user's tokens are accepted from now on. 1 read. */
export const noteLinked = (userId: string): Promise<void> => noteIn(userId, 'unlinked', 'linked');

/** Call before the user's last identity is disconnected: tokens are rejected until the next sign-in. 1 read. */
export const noteUnlinked = (userId: string): Promise<void> => noteIn(userId, 'linked', 'unlinked');
