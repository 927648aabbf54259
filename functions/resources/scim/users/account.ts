import { foldCase } from '#platform/store/fold-case.ts';
import { keys } from '#platform/store/keys.ts';
import { updateExisting } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { mapsGroups } from '#resources/organizations/admission-rules.ts';
import { enterTeam, removeFromTeam } from '#resources/teams/members.ts';
import { checkOwnersStay, lastOwner } from '#resources/teams/owners.ts';
import { ensureOwnersTeam, getTeams } from '#resources/teams/records.ts';
import { endSessionsOf } from '#resources/users/identities.ts';
import { holderOf, inviteUser } from '#resources/users/invitations.ts';
import {
  acceptMembership,
  addMember,
  getMembershipOrInvitation,
  type Membership,
  membershipsOf,
  removeMember,
  roleOf,
  type ScimLink,
} from '#resources/users/memberships.ts';
import { deleteTokensOf, listTokens } from '#resources/users/tokens.ts';
import { getUser } from '#resources/users/users.ts';
import type { ScimCall } from '../call.ts';
import { auditMembership } from '../events.ts';
import { taken } from '../protocol/errors.ts';
import { addressOf } from './attributes.ts';
import { left } from './left.ts';
import { noteOf, type ScimUser, unlink } from './records.ts';

/**
 * The account and the membership of a provisioned user. An address from a directory proves nothing: like an invitation,
 * it names an account that only a sign-in with that address, verified by the issuer, can act as. An account of another
 * organization is never taken over: its user has to accept the membership, except in organizations to whose directory
 * the operator trusts the issuer's groups as well.
 */

const alreadyLinked = () => taken('Another provisioned user is linked to the account with this e-mail address.');

/** Marks the membership as the directory's. False when it belongs to another provisioned user. */
const claim = async ({ userId, organization }: Membership, link: ScimLink): Promise<boolean> => {
  const claimed = await updateExisting<Membership>(keys.membership(userId, organization), {
    set: { scim: link },
    condition: 'attribute_not_exists(scim) OR scim.id = :id',
    values: { ':id': link.id },
  });
  return claimed !== undefined;
};

const accountFor = async (user: ScimUser): Promise<{ id: string; isNew: boolean }> => {
  if (user.userId !== undefined) return { id: user.userId, isNew: false };
  const existing = await holderOf(addressOf(user));
  return { id: (existing ?? (await inviteUser(addressOf(user)))).id, isNew: existing === undefined };
};

/**
 * Makes the user a member, in the teams of the user's groups. Can be repeated. Older tokens of the account stay
 * rejected in this organization.
 * @throws {ScimError} 409
 */
export const activate = async (call: ScimCall, user: ScimUser): Promise<ScimUser | undefined> => {
  const { home } = call;
  const { id: userId, isNew } = await accountFor(user);
  const existed = user.userId === undefined ? !isNew : user.status === 'claimed';
  const link: ScimLink = { id: user.id, status: existed ? 'claimed' : 'provisioned' };
  // The first sign-in accepts the invitation of an account without a sign-in.
  const isTrusted = user.joined || (mapsGroups(home) && (await getUser(userId))?.invitedAt === undefined);
  const before = await getMembershipOrInvitation(userId, home.name);
  if (before?.invitation && isTrusted) await acceptMembership(before);
  if (!before) {
    const invitation = isTrusted ? undefined : { email: addressOf(user) };
    await auditMembership(call, userId, 'join_by_scim');
    await addMember(home.name, userId, 'member', { invitation, scim: link, tokensFrom: now() });
  }
  const membership = before ?? (await getMembershipOrInvitation(userId, home.name));
  if (!membership || !(await claim(membership, link))) throw alreadyLinked();
  for (const team of await getTeams([...(user.groups ?? [])])) {
    if (team.scim?.configurationId === user.configurationId) await enterTeam(team, [userId]);
  }
  return noteOf(user, { userId, status: link.status });
};

/** The last owner and the break-glass owner stay. @throws {ApiError} 409 */
const leaveOwners = async ({ home }: ScimCall, { userId }: Membership): Promise<void> => {
  const owners = await ensureOwnersTeam(home);
  await checkOwnersStay(owners, [userId]);
  if (!(await removeFromTeam(owners, userId))) throw lastOwner(owners);
};

/** Ends all rights in the organization in one write. @throws {ApiError} 409 for the last owner */
const endMembership = async (call: ScimCall, membership: Membership): Promise<void> => {
  if (roleOf(membership) === 'owner') await leaveOwners(call, membership);
  await removeMember(membership);
  for (const team of await getTeams([...(membership.teams ?? [])])) {
    if (!team.owners) await removeFromTeam(team, membership.userId);
  }
};

/** True while an organization other than this one relies on the account. */
const isElsewhere = async (userId: string, organization: string): Promise<boolean> =>
  (await membershipsOf(userId)).some((membership) => membership.organization !== organization);

/** Ends tokens and sessions of an account, unless another organization relies on it. */
const endCredentials = async (userId: string, organization: string): Promise<Record<string, string>> => {
  if (await isElsewhere(userId, organization)) return { tokens: 'kept for another organization' };
  const tokens = (await listTokens(userId)).length;
  await deleteTokensOf(userId);
  const sessions = await endSessionsOf(userId);
  return { tokens_ended: String(tokens), sessions_ended: String(sessions) };
};

/** The membership of the user's account; undefined when another provisioned user has it. */
const membershipOf = async ({ home }: ScimCall, { id, userId = '' }: ScimUser): Promise<Membership | undefined> => {
  const membership = await getMembershipOrInvitation(userId, home.name);
  return membership?.scim && membership.scim.id !== id ? undefined : membership;
};

/**
 * Ends the membership, then the account's tokens and sessions. An account that never joined keeps them: an invitation
 * gives no power over it. Can be repeated.
 * @throws {ApiError} 409 for the last owner
 */
export const deactivate = async (call: ScimCall, user: ScimUser): Promise<ScimUser | undefined> => {
  const { userId } = user;
  if (userId === undefined) return user;
  const { name: organization } = call.home;
  const membership = await membershipOf(call, user);
  const joined = membership ? !membership.invitation : user.joined === true;
  const noted = joined ? await noteOf(user, { joined }) : user;
  if (membership) await endMembership(call, membership);
  const ended = joined ? await endCredentials(userId, organization) : {};
  if (membership)
    await auditMembership(call, userId, 'end_by_scim', { ...ended, ...(await left(organization, userId)) });
  return noted;
};

/**
 * Follows a changed address. An account that its user has signed in to keeps its verified address, and stays linked;
 * one without a sign-in may be invited elsewhere, so that another account takes its place here.
 * @throws {ScimError} 409
 */
export const followAddress = async (call: ScimCall, user: ScimUser): Promise<ScimUser | undefined> => {
  const account = user.userId === undefined ? undefined : await getUser(user.userId);
  if (!account?.invitedAt || foldCase(account.email) === foldCase(addressOf(user))) return user;
  const membership = await membershipOf(call, user);
  if (membership) await endMembership(call, membership);
  const unlinked = await unlink(user);
  return unlinked && membership ? activate(call, unlinked) : unlinked;
};
