import type { Role } from '#api/permissions/granted.ts';
import { setOrRemove } from '#platform/store/edits.ts';
import { derivedId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, queryAll, remove, update, updateExisting } from '#platform/store/table.ts';
import { type TokenLimits, type TtlPolicies, tokenLimits } from '#resources/organizations/token-ttl-record.ts';
import type { SlackLink } from '#resources/slack/link-record.ts';
import { identitiesOf } from './identities.ts';

/**
 * Membership of a user in an organization, or of an account that acts for a team or organization token
 * (public-api/authority.ts).
 */
export interface Membership {
  userId: string;
  organization: string;
  /** Its current name; absent while it has its first one (organizations/rename.ts). */
  organizationName?: string;
  /** Members of the owners team have the role owner. It is repeated here, so that authorization takes one read. */
  roles: Role[];
  /** Ids of the teams the user is in. */
  teams?: Set<string>;
  createdAt: string;
  /** The organization does not accept user tokens. */
  withoutUserTokens?: true;
  /**
   * End of the time in which the organization accepts the user's tokens; only for users with an identity at the issuer
   * (organizations/token-age.ts).
   */
  tokensUntil?: string;
  /** The organization rejects tokens with a longer lifetime (organizations/token-ttl.ts). */
  tokenLimits?: TokenLimits;
  /** A group at the issuer created the membership; it ends with the user's last team that maps a group. */
  byGroup?: true;
  /**
   * The organization has IP allowlists, so that requests check the caller's address
   * (resources/ip-allowlists/flags.ts).
   */
  ipAllowlists?: number;
  /** The user has not accepted the invitation yet: it grants no permissions and restricts nothing. */
  invitation?: { email: string };
  /**
   * The organization requires single sign-on; `unlinked`: the user has no identity at the issuer, whose sign-ins
   * would count (sso-required.ts).
   */
  ssoRequired?: 'linked' | 'unlinked';
  /** The one owner who is exempt from `ssoRequired`, for the time when the issuer fails. */
  breakGlass?: true;
  /** A directory manages the membership (resources/scim/users/account.ts). */
  scim?: ScimLink;
  /** The organization rejects the user's older tokens and sessions: the directory had ended the membership before. */
  tokensFrom?: string;
  /** Ends with the membership. */
  slack?: SlackLink;
}

export interface ScimLink {
  /** Of the provisioned user. */
  id: string;
  /** `claimed`: the user existed before (HCP API: SCIM identities). */
  status: 'provisioned' | 'claimed';
}

export const accepted = (membership: Membership | undefined): Membership | undefined =>
  membership?.invitation ? undefined : membership;

/** Id of the membership in the API: `ou-…`. */
export const membershipId = ({ organization, userId }: Pick<Membership, 'organization' | 'userId'>): string =>
  derivedId('ou', `${organization} ${userId}`);

/** 1 read. Undefined before the invitation is accepted. */
export const getMembership = async (userId: string, organization: string): Promise<Membership | undefined> =>
  accepted(await getMembershipOrInvitation(userId, organization));

/** 1 read. */
export const getMembershipOrInvitation = (userId: string, organization: string): Promise<Membership | undefined> =>
  get<Membership>(keys.membership(userId, organization));

/** Finds a membership or invitation by its id. 2 reads. */
export const findMembership = async (id: string): Promise<Membership | undefined> => {
  const pointer = await get<{ userId: string; organization: string }>(keys.membershipId(id));
  return pointer && getMembershipOrInvitation(pointer.userId, pointer.organization);
};

/** All memberships and invitations of a user, ordered by organization name. */
export const membershipsAndInvitationsOf = (userId: string): Promise<Membership[]> =>
  queryAll<Membership>({ pk: keys.user(userId).pk, prefix: 'ORG#' });

/** All accepted memberships of a user. */
export const membershipsOf = async (userId: string): Promise<Membership[]> =>
  (await membershipsAndInvitationsOf(userId)).filter(accepted);

/** All memberships and invitations of an organization, ordered by user id. 1 read per 100. */
export const membershipsIn = async (organization: string): Promise<Membership[]> => {
  const { pk } = keys.organization(organization);
  const ids = (await queryAll<{ userId: string }>({ pk, prefix: 'MEMBER#' })).map(({ userId }) => userId);
  return getMemberships(organization, ids);
};

/** Ordered by user id; users without a membership are left out. */
export const getMemberships = (organization: string, userIds: string[]): Promise<Membership[]> =>
  batchGet<Membership & Key>(userIds.map((id) => keys.membership(id, organization)));

export const roleOf = ({ roles }: Pick<Membership, 'roles'>): Role =>
  (['owner', 'organization'] as const).find((role) => roles.includes(role)) ?? 'member';

/** 3 writes; can be repeated. Changes nothing for an existing member or invited user. */
export const addMember = async (
  organization: string,
  userId: string,
  role: Role = 'member',
  more: Pick<Membership, 'invitation' | 'byGroup' | 'scim' | 'tokensFrom'> = {},
): Promise<void> => {
  const createdAt = new Date().toISOString();
  const membership: Membership = { userId, organization, roles: [role], createdAt, ...more };
  await indexMember(membership);
  await create({ ...keys.membership(userId, organization), ...membership });
  await endIfDeleted(membership);
};

/**
 * Ends a membership that was written while its organization was being deleted: the deletion marks the organization
 * first and then ends its memberships. Applies the organization's rules on user tokens and IP allowlists in the same
 * way.
 */
export const endIfDeleted = async (membership: Membership): Promise<void> => {
  const key = keys.organization(membership.organization);
  const home = await get<Rules>(key);
  if (home?.deletedAt) return removeMember(membership);
  if (home?.shownName) await applyRules(membership, { organizationName: home.shownName });
  if (home?.ipAllowlists !== undefined) await applyRules(membership, { ipAllowlists: home.ipAllowlists });
  if (home?.userTokensEnabled === false) await applyRules(membership, { withoutUserTokens: true });
  if (home?.ssoMaxTokenAge) await boundTokens(membership, home.ssoMaxTokenAge);
  if (home?.ssoRequired) await requireSso(membership, home.breakGlassOwner);
  const limits = home && tokenLimits(home);
  if (limits) await applyRules(membership, { tokenLimits: limits });
};

/** Rules of an organization that its memberships repeat, so that authorization takes one read. */
interface Rules extends TtlPolicies {
  shownName?: string;
  deletedAt?: string;
  userTokensEnabled?: boolean;
  ipAllowlists?: number;
  ssoMaxTokenAge?: number | null;
  ssoRequired?: boolean;
  breakGlassOwner?: string | null;
}

type Rule =
  | 'organizationName'
  | 'withoutUserTokens'
  | 'tokensUntil'
  | 'tokenLimits'
  | 'ipAllowlists'
  | 'ssoRequired'
  | 'breakGlass';

/** Repeats rules of the organization in a membership; undefined ends one. Takes effect at once, for all its tokens. */
export const applyRules = async (
  { userId, organization }: Pick<Membership, 'userId' | 'organization'>,
  rules: Partial<Pick<Membership, Rule>>,
): Promise<void> => {
  await updateExisting<Membership>(keys.membership(userId, organization), setOrRemove(rules));
};

/**
 * Makes the membership require single sign-on, except the break-glass owner's.
 * @param exempt id of the break-glass owner
 */
export const requireSso = async (
  membership: Pick<Membership, 'userId' | 'organization'>,
  exempt: string | null | undefined,
): Promise<void> => {
  if (membership.userId === exempt) return applyRules(membership, { breakGlass: true, ssoRequired: undefined });
  const ssoRequired = (await identitiesOf(membership.userId)).length > 0 ? 'linked' : 'unlinked';
  await applyRules(membership, { ssoRequired, breakGlass: undefined });
};

/**
 * Limits the user's tokens to this many minutes from now. Users without an identity are exempt, because they cannot
 * sign in again.
 * @param minutes null removes the limit
 */
export const boundTokens = async (
  membership: Pick<Membership, 'userId' | 'organization'>,
  minutes: number | null,
): Promise<void> => {
  if (minutes === null) return applyRules(membership, { tokensUntil: undefined });
  if ((await identitiesOf(membership.userId)).length === 0) return;
  await applyRules(membership, { tokensUntil: new Date(Date.now() + minutes * 60_000).toISOString() });
};

/** Does nothing when a later version was noted meanwhile. */
export const forgetIpAllowlists = async (
  { userId, organization }: Pick<Membership, 'userId' | 'organization'>,
  version: number,
): Promise<void> => {
  await update<Membership>(keys.membership(userId, organization), {
    remove: ['ipAllowlists'],
    condition: 'ipAllowlists <= :version',
    values: { ':version': version },
  });
};

/** Makes the invitation a membership. Undefined when it was ended. */
export const acceptMembership = ({ userId, organization }: Membership): Promise<Membership | undefined> =>
  updateExisting<Membership>(keys.membership(userId, organization), { remove: ['invitation'] });

/** Writes the pointers by which lists and ids find the membership. */
export const indexMember = async ({ organization, userId }: Membership): Promise<void> => {
  await create({ ...keys.member(organization, userId), userId });
  await create({ ...keys.membershipId(membershipId({ organization, userId })), organization, userId });
};

interface OfTeam {
  organization: string;
  id: string;
  owners?: boolean;
}

/** Takes effect at once. Undefined when the user is not a member. */
export const joinTeam = (team: OfTeam, userId: string): Promise<Membership | undefined> =>
  updateExisting<Membership>(keys.membership(userId, team.organization), {
    add: { teams: new Set([team.id]) },
    set: team.owners ? { roles: ['owner'] } : {},
  });

/** Takes effect at once. Undefined when the user is not a member. */
export const leaveTeam = (team: OfTeam, userId: string): Promise<Membership | undefined> =>
  updateExisting<Membership>(keys.membership(userId, team.organization), {
    delete: { teams: new Set([team.id]) },
    set: team.owners ? { roles: ['member'] } : {},
  });

/** Takes effect at once. The caller removes the user from the teams. */
export const removeMember = async ({
  organization,
  userId,
}: Pick<Membership, 'organization' | 'userId'>): Promise<void> => {
  await remove(keys.membership(userId, organization));
  await remove(keys.membershipId(membershipId({ organization, userId })));
  await remove(keys.member(organization, userId));
};

/** Ids of members and invited users. */
export const listMembers = async (organization: string): Promise<string[]> => {
  const { pk } = keys.organization(organization);
  return (await queryAll<{ userId: string }>({ pk, prefix: 'MEMBER#' })).map(({ userId }) => userId);
};
