import { foldCase } from '#platform/store/fold-case.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, put, update } from '#platform/store/table.ts';
import { enterTeam, removeFromTeam } from '#resources/teams/members.ts';
import { getTeams } from '#resources/teams/records.ts';
import { acceptMembership, addMember, membershipsAndInvitationsOf, removeMember } from './memberships.ts';
import type { User } from './user.ts';
import { takeFreeUsername } from './usernames.ts';
import { ensureUser, getUser, loseEmail } from './users.ts';

/**
 * Who is invited by an e-mail address is a user from then on, as in HCP Terraform, whom nobody can be until somebody signs
 * in with that address, verified. Addresses that users only say are theirs count for nothing here. Whoever signs in for the
 * first time has accepted by that; somebody who is a user already is a member only once they say so.
 */

const holderOf = async (email: string): Promise<User | undefined> => {
  const pointer = await get<{ userId: string }>(keys.email(email));
  return pointer && getUser(pointer.userId);
};

/** The user with this address, or a new invited one. */
export const inviteUser = async (email: string): Promise<User> => {
  const holder = await holderOf(email);
  if (holder) return holder;
  await create({ ...keys.email(email), userId: newId('user') });
  const id = (await get<{ userId: string }>(keys.email(email)))?.userId ?? newId('user');
  return ensureUser(id, { username: '', email, invitedAt: new Date().toISOString() });
};

/** The invited user of this address who has not signed in yet. */
export const invitedUser = async (email: string): Promise<User | undefined> => {
  const user = await holderOf(email);
  return user?.invitedAt ? user : undefined;
};

/** Somebody signed in as the invited user. May be repeated. */
export const acceptInvitation = async (user: User, username: string): Promise<User> => {
  const named = await takeFreeUsername(user, username);
  for (const membership of await membershipsAndInvitationsOf(user.id)) await acceptMembership(membership);
  const accepted = { remove: ['invitedAt'], condition: 'attribute_exists(pk)' };
  return (await update<User>(keys.user(user.id), accepted)) ?? named;
};

/** Somebody who has a user already turned out to have the address: what the invited user was offered, they are. */
export const takeOver = async (invited: User, userId: string): Promise<void> => {
  for (const membership of await membershipsAndInvitationsOf(invited.id)) {
    const { organization } = membership;
    await addMember(organization, userId, 'member', { invitation: { email: invited.email } });
    const teams = await getTeams([...(membership.teams ?? [])]);
    for (const team of teams) await enterTeam(team, [userId]);
    for (const team of teams) await removeFromTeam(team, invited.id);
    await removeMember(membership);
  }
};

/** Whether the issuer or the operator said that the address is the user's. 1 read. */
export const hasVerified = async ({ id, invitedAt }: User, email: string): Promise<boolean> =>
  invitedAt === undefined && (await get<{ userId: string }>(keys.email(email)))?.userId === id;

/** From now on invitations to the address are to this user: an issuer says that it is theirs, and no other user's. */
export const linkEmail = async (email: string, userId: string): Promise<void> => {
  const before = await holderOf(email);
  if (before?.id === userId) return;
  await put({ ...keys.email(email), userId });
  if (before && foldCase(before.email) === foldCase(email)) await loseEmail(before);
};
