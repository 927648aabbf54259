import { environment } from '#platform/environment.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { inSeconds } from '#platform/store/time.ts';
import { renewTokens } from '#resources/organizations/token-age.ts';
import { claimIdentity } from '#resources/users/identities.ts';
import { acceptInvitation, invitedUser, linkEmail, takeOver } from '#resources/users/invitations.ts';
import type { Person } from '#resources/users/person.ts';
import { noteLinked } from '#resources/users/sso-required.ts';
import type { User } from '#resources/users/user.ts';
import { settleUsername } from '#resources/users/usernames.ts';
import { confirmEmail, createNamed, getUser, setSiteAdmin } from '#resources/users/users.ts';
import { SignInError } from './errors.ts';
import { followGroups } from './groups.ts';

/**
 * Checks that the operator allows the person's e-mail domain.
 * @param name of the identity provider
 * @throws {SignInError} 403
 */
export const checkPerson = ({ email, emailVerified }: Person, name: string): void => {
  const { emailDomains = [] } = environment.signIn ?? {};
  if (emailDomains.length === 0) return;
  const audience = `users with an e-mail address at ${emailDomains.join(' or ')}`;
  if (email === undefined) {
    throw new SignInError(
      403,
      `Only ${audience} can sign in, and ${name} did not send your address. Tell the operator of this platform.`,
    );
  }
  if (!emailDomains.includes(email.slice(email.lastIndexOf('@') + 1))) {
    throw new SignInError(
      403,
      `Only ${audience} can sign in; yours at ${name} is ${email}. Sign in there with another account.`,
    );
  }
  if (!emailVerified) {
    throw new SignInError(403, `${email} is not verified at ${name}. Verify it there first.`);
  }
};

/** A name in the form that `username` requires (api/names.ts). */
const usernameOf = ({ username, email, subject }: Person): string => {
  const name = username ?? email?.split('@')[0] ?? subject;
  return name
    .split('@')[0]!
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, 60)
    .padEnd(3, '-');
};

/**
 * The user of a person, found by issuer and subject, never by e-mail address, which can pass to another person. A new
 * person with a verified address becomes the user who was invited with it.
 * @throws {SignInError} 403
 */
export const userOf = async (person: Person): Promise<User> => {
  const email = person.emailVerified ? person.email : undefined;
  const invited = email === undefined ? undefined : await invitedUser(email);
  const id = await claimIdentity(person, invited?.id);
  const user = (await getUser(id)) ?? (await createNamed(id, { username: usernameOf(person), email: email ?? '' }));
  if (user.invitedAt) await acceptInvitation(user, usernameOf(person));
  else await settleUsername(user, usernameOf(person));
  await learn(person, id);
  if (email !== undefined && email !== user.email) await confirmEmail(user, email);
  await renewTokens(id, person.tokensLastSeconds);
  return user;
};

/** Stores what the issuer reports about a user: the verified address, the current groups, site administration. */
const learn = async (person: Person, userId: string): Promise<void> => {
  const { email, emailVerified, groups, isSiteAdmin, tokensLastSeconds = 0 } = person;
  if (email !== undefined && emailVerified) {
    const invited = await invitedUser(email);
    if (invited && invited.id !== userId) await takeOver(invited, userId);
    await linkEmail(email, userId);
  }
  if (groups) await followGroups(userId, groups);
  if (isSiteAdmin !== undefined) await setSiteAdmin(userId, isSiteAdmin ? inSeconds(tokensLastSeconds) : undefined);
};

/** A connected identity confirms the address that the user entered; a user without an address gets the identity's. */
const settleEmail = async ({ email, emailVerified }: Person, userId: string): Promise<void> => {
  const user = await getUser(userId);
  if (!user || email === undefined || !emailVerified) return;
  if (user.email === '' || foldCase(user.unconfirmedEmail ?? '') === email) await confirmEmail(user, email);
};

/** True when the identity is connected to the user; false when it belongs to another user. */
export const connect = async (person: Person, userId: string): Promise<boolean> => {
  if ((await claimIdentity(person, userId)) !== userId) return false;
  await learn(person, userId);
  await settleEmail(person, userId);
  await noteLinked(userId);
  return true;
};
