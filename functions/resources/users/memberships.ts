import type { Role } from '#api/permissions/granted.ts';
import { derivedId } from '#platform/store/id.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet, create, get, queryAll, remove, update } from '#platform/store/table.ts';
import { identitiesOf } from './identities.ts';

/** Of a user, or of the account that a team's or an organization's token acts as (public-api/authority.ts), in an organization. */
export interface Membership {
  userId: string;
  organization: string;
  /** Those who are in the owners team are owners; kept here, so that one read tells. */
  roles: Role[];
  /** Ids of the teams the user is in. */
  teams?: Set<string>;
  createdAt: string;
  /** The organization does not accept user tokens. */
  withoutUserTokens?: true;
  /** Until then it accepts tokens of this user, who has an identity at the issuer (organizations/token-age.ts). */
  tokensUntil?: string;
  /** A group at the issuer made the user a member: it ends with the user's last team of a group. */
  byGroup?: true;
  /** The organization has IP allowlists: the caller's address is looked up (resources/ip-allowlists/flags.ts). */
  ipAllowlists?: number;
  /** Somebody invited the user, who has not accepted: it gives nothing, and changes nothing for them. */
  invitation?: { email: string };
}

export const accepted = (membership: Membership | undefined): Membership | undefined =>
  membership?.invitation ? undefined : membership;

/** `ou-…`, as the API knows it by. */
export const membershipId = ({ organization, userId }: Pick<Membership, 'organization' | 'userId'>): string =>
  derivedId('ou', `${organization} ${userId}`);

/** 1 read. Undefined before the invitation is accepted. */
export const getMembership = async (userId: string, organization: string): Promise<Membership | undefined> =>
  accepted(await getMembershipOrInvitation(userId, organization));

/** 1 read. */
export const getMembershipOrInvitation = (userId: string, organization: string): Promise<Membership | undefined> =>
  get<Membership>(keys.membership(userId, organization));

/** By its id, or an invitation's. 2 reads. */
export const findMembership = async (id: string): Promise<Membership | undefined> => {
  const pointer = await get<{ userId: string; organization: string }>(keys.membershipId(id));
  return pointer && getMembershipOrInvitation(pointer.userId, pointer.organization);
};

/** All of a user, in the order of the organizations' names, with what they are invited to. */
export const membershipsAndInvitationsOf = (userId: string): Promise<Membership[]> =>
  queryAll<Membership>({ pk: keys.user(userId).pk, prefix: 'ORG#' });

/** All of a user. */
export const membershipsOf = async (userId: string): Promise<Membership[]> =>
  (await membershipsAndInvitationsOf(userId)).filter(accepted);

/** All of the organization's people and of those who are invited, in the order of their ids. 1 read for 100. */
export const membershipsIn = async (organization: string): Promise<Membership[]> => {
  const { pk } = keys.organization(organization);
  const ids = (await queryAll<{ userId: string }>({ pk, prefix: 'MEMBER#' })).map(({ userId }) => userId);
  return getMemberships(organization, ids);
};

/** In the order of the ids; those who are no members are left out. */
export const getMemberships = (organization: string, userIds: string[]): Promise<Membership[]> =>
  batchGet<Membership & Key>(userIds.map((id) => keys.membership(id, organization)));

export const roleOf = ({ roles }: Pick<Membership, 'roles'>): Role =>
  (['owner', 'organization'] as const).find((role) => roles.includes(role)) ?? 'member';

/** 3 writes; may be repeated. Changes nothing for who is already a member or invited. */
export const addMember = async (
  organization: string,
  userId: string,
  role: Role = 'member',
  { invitation, byGroup }: Pick<Membership, 'invitation' | 'byGroup'> = {},
): Promise<void> => {
  const createdAt = new Date().toISOString();
  const membership: Membership = { userId, organization, roles: [role], createdAt, invitation, byGroup };
  await indexMember(membership);
  await create({ ...keys.membership(userId, organization), ...membership });
  await endIfDeleted(membership);
};

/**
 * Whoever deletes an organization marks it first and ends its memberships then: one that is written meanwhile ends here.
 * So with tokens of users, which an organization may have no use for, and with its IP allowlists.
 */
export const endIfDeleted = async (membership: Membership): Promise<void> => {
  const key = keys.organization(membership.organization);
  const home = await get<Rules>(key);
  if (home?.deletedAt) return removeMember(membership);
  if (home?.ipAllowlists !== undefined) await noteIpAllowlists(membership, home.ipAllowlists);
  if (home?.userTokensEnabled === false) await setUserTokens(membership, false);
  if (home?.ssoMaxTokenAge) await boundTokens(membership, home.ssoMaxTokenAge);
};

/** What of an organization its memberships repeat, so that one read tells. */
interface Rules {
  deletedAt?: string;
  userTokensEnabled?: boolean;
  ipAllowlists?: number;
  ssoMaxTokenAge?: number | null;
}

/**
 * Tokens of the user are accepted for so many minutes from now on; users without an identity cannot sign in, and keep theirs.
 * @param minutes null ends the limit
 */
export const boundTokens = async (
  { userId, organization }: Pick<Membership, 'userId' | 'organization'>,
  minutes: number | null,
): Promise<void> => {
  if (minutes !== null && (await identitiesOf(userId)).length === 0) return;
  const until = minutes === null ? undefined : new Date(Date.now() + minutes * 60_000).toISOString();
  await update<Membership>(keys.membership(userId, organization), {
    ...(until === undefined ? { remove: ['tokensUntil'] } : { set: { tokensUntil: until } }),
    condition: 'attribute_exists(pk)',
  });
};

/** Effective at once. */
export const setUserTokens = async (
  { userId, organization }: Pick<Membership, 'userId' | 'organization'>,
  enabled: boolean,
): Promise<void> => {
  await update<Membership>(keys.membership(userId, organization), {
    ...(enabled ? { remove: ['withoutUserTokens'] } : { set: { withoutUserTokens: true } }),
    condition: 'attribute_exists(pk)',
  });
};

/**
 * The caller's address is looked up from now on.
 * @param version of the allowlists, for {@link forgetIpAllowlists}
 */
export const noteIpAllowlists = async (
  { userId, organization }: Pick<Membership, 'userId' | 'organization'>,
  version: number,
): Promise<void> => {
  await update<Membership>(keys.membership(userId, organization), {
    set: { ipAllowlists: version },
    condition: 'attribute_exists(pk)',
  });
};

/** Unless a later version has been noted meanwhile. */
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

/** From now on it counts. Undefined when it was ended. */
export const acceptMembership = ({ userId, organization }: Membership): Promise<Membership | undefined> =>
  update<Membership>(keys.membership(userId, organization), {
    remove: ['invitation'],
    condition: 'attribute_exists(pk)',
  });

/** What lists and ids lead to the membership by. */
export const indexMember = async ({ organization, userId }: Membership): Promise<void> => {
  await create({ ...keys.member(organization, userId), userId });
  await create({ ...keys.membershipId(membershipId({ organization, userId })), organization, userId });
};

interface OfTeam {
  organization: string;
  id: string;
  owners?: boolean;
}

/** Effective at once. Undefined when the user is no member. */
export const joinTeam = (team: OfTeam, userId: string): Promise<Membership | undefined> =>
  update<Membership>(keys.membership(userId, team.organization), {
    add: { teams: new Set([team.id]) },
    set: team.owners ? { roles: ['owner'] } : {},
    condition: 'attribute_exists(pk)',
  });

/** Effective at once. Undefined when the user is no member. */
export const leaveTeam = (team: OfTeam, userId: string): Promise<Membership | undefined> =>
  update<Membership>(keys.membership(userId, team.organization), {
    delete: { teams: new Set([team.id]) },
    set: team.owners ? { roles: ['member'] } : {},
    condition: 'attribute_exists(pk)',
  });

/** Effective at once; the caller sees to the teams. */
export const removeMember = async ({
  organization,
  userId,
}: Pick<Membership, 'organization' | 'userId'>): Promise<void> => {
  await remove(keys.membership(userId, organization));
  await remove(keys.membershipId(membershipId({ organization, userId })));
  await remove(keys.member(organization, userId));
};

/** Ids of the users who belong to it, or are invited. */
export const listMembers = async (organization: string): Promise<string[]> => {
  const { pk } = keys.organization(organization);
  return (await queryAll<{ userId: string }>({ pk, prefix: 'MEMBER#' })).map(({ userId }) => userId);
};
