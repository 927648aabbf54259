import { foldCase } from '#platform/store/fold-case.ts';
import { newId } from '#platform/store/id.ts';
import { keys } from '#platform/store/keys.ts';
import { create, get, put, updateExisting } from '#platform/store/table.ts';
import { moveScimUser } from '#resources/scim/users/account-link.ts';
import { enterTeam, removeFromTeam } from '#resources/teams/members.ts';
import { getTeams } from '#resources/teams/records.ts';
import { acceptMembership, addMember, membershipsAndInvitationsOf, removeMember } from './memberships.ts';
import type { User } from './user.ts';
import { takeFreeUsername } from './usernames.ts';
import { ensureUser, getUser, loseEmail } from './users.ts';

/**
 * Inviting an e-mail address creates a user, as in HCP Terraform. Only a sign-in with that address, verified by the
 * issuer, acts as that user; unconfirmed addresses do not count. The first sign-in accepts the invitation. An
 * existing user has to accept it explicitly.
 */

/** The user to whom the issuer or the operator verified the address, or who was invited with it. */
export const holderOf = async (email: string): Promise<User | undefined> => {
  const pointer = await get<{ userId: string }>(keys.email(email));
  return pointer && getUser(pointer.userId);
};

/** The user with this address, or a newly invited one. */
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

/** Called at the first sign-in of an invited user. Can be repeated. */
export const acceptInvitation = async (user: User, username: string): Promise<User> => {
  const named = await takeFreeUsername(user, username);
  for (const membership of await membershipsAndInvitationsOf(user.id)) await acceptMembership(membership);
  return (await updateExisting<User>(keys.user(user.id), { remove: ['invitedAt'] })) ?? named;
};

/** Transfers the invitations of an invited user to the existing user to whom the address belongs. */
export const takeOver = async (invited: User, userId: string): Promise<void> => {
  for (const membership of await membershipsAndInvitationsOf(invited.id)) {
    const { organization } = membership;
    await addMember(organization, userId, 'member', { invitation: { email: invited.email } });
    if (membership.scim) await moveScimUser(membership, userId);
    const teams = await getTeams([...(membership.teams ?? [])]);
    for (const team of teams) await enterTeam(team, [userId]);
    for (const team of teams) await removeFromTeam(team, invited.id);
    await removeMember(membership);
  }
};

/** Whether the issuer or the operator verified that the address belongs to the user. 1 read. */
export const hasVerified = async ({ id, invitedAt }: User, email: string): Promise<boolean> =>
  invitedAt === undefined && (await get<{ userId: string }>(keys.email(email)))?.userId === id;

/** Directs future invitations of the address to this user, after the issuer verified that it belongs to them. */
export const linkEmail = async (email: string, userId: string): Promise<void> => {
  const before = await holderOf(email);
  if (before?.id === userId) return;
  await put({ ...keys.email(email), userId });
  if (before && foldCase(before.email) === foldCase(email)) await loseEmail(before);
};
