import type { SignInSettings } from '../environment.ts';
import { claimIdentity } from '../people/accounts/identities.ts';
import { acceptInvitation, invitedUser, linkEmail, takeOver } from '../people/accounts/invitations.ts';
import type { Person } from '../people/accounts/person.ts';
import type { User } from '../people/accounts/user.ts';
import { settleUsername } from '../people/accounts/usernames.ts';
import { createNamed, getUser, updateUser } from '../people/accounts/users.ts';
import { SignInError } from './errors.ts';
import { followGroups } from './groups.ts';
import { issuerName } from './settings.ts';

/**
 * Whether the operator lets such a person in.
 * @throws {SignInError} 403
 */
export const checkPerson = (settings: SignInSettings, { email, emailVerified }: Person): void => {
  const { emailDomains } = settings;
  if (emailDomains.length === 0) return;
  const name = issuerName(settings);
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

/** As `username` wants it (api/names.ts). */
const usernameOf = ({ username, email, subject }: Person): string => {
  const name = username ?? email?.split('@')[0] ?? subject;
  return name
    .split('@')[0]!
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .slice(0, 60)
    .padEnd(3, '-');
};

/**
 * The user that somebody is: known by issuer and subject, never by an e-mail address, which changes hands. Only who is
 * new becomes the user that was invited by a verified one.
 * @throws {SignInError} 403
 */
export const userOf = async (person: Person): Promise<User> => {
  const email = person.emailVerified ? person.email : undefined;
  const invited = email === undefined ? undefined : await invitedUser(email);
  const id = await claimIdentity(person, invited?.id);
  const user = (await getUser(id)) ?? (await createNamed(id, { username: usernameOf(person), email: email ?? '' }));
  // Older versions let tokens of teams and organizations connect identities to their accounts.
  if (user.service) throw new SignInError(403, "Teams and organizations cannot sign in. Use a user's token.");
  if (user.invitedAt) await acceptInvitation(user, usernameOf(person));
  else await settleUsername(user, usernameOf(person));
  await learn(person, id);
  if (email !== undefined && email !== user.email) await updateUser(id, { email });
  return user;
};

/** What the issuer says of a user: whose address it is, and the groups they are in now. */
const learn = async ({ email, emailVerified, groups }: Person, userId: string): Promise<void> => {
  if (email !== undefined && emailVerified) {
    const invited = await invitedUser(email);
    if (invited && invited.id !== userId) await takeOver(invited, userId);
    await linkEmail(email, userId);
  }
  if (groups) await followGroups(userId, groups);
};

/** True when the identity is connected to the user; false when it belongs to another user. */
export const connect = async (person: Person, userId: string): Promise<boolean> => {
  if ((await claimIdentity(person, userId)) !== userId) return false;
  await learn(person, userId);
  return true;
};
