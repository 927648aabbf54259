import { conflict } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { getMembership } from '#resources/users/memberships.ts';
import { getUser } from '#resources/users/users.ts';
import { usersOfTeam } from './members.ts';
import type { Team } from './team.ts';

/** @throws {ApiError} 409 */
const checkBreakGlass = async (organization: string, leaving: string[]): Promise<void> => {
  const { ssoRequired, breakGlassOwner } = (await getOrganization(organization)) ?? {};
  if (!ssoRequired || !breakGlassOwner || !leaving.includes(breakGlassOwner)) return;
  throw conflict(
    `This owner can act if single sign-on fails (break-glass owner of ${nameOf(organization)}). Name another one in the organization's settings first.`,
  );
};

/** At least one remaining owner can sign in: invited users do not count, because they may never accept. */
export const checkOwnersStay = async (owners: Team, leaving: string[]): Promise<void> => {
  await checkBreakGlass(owners.organization, leaving);
  const staying = (await usersOfTeam.get(owners.id)).filter((id) => !leaving.includes(id));
  for (const id of staying) {
    const [user, membership] = await Promise.all([getUser(id), getMembership(id, owners.organization)]);
    if (user && !user.invitedAt && membership) return;
  }
  throw lastOwner(owners);
};

export const lastOwner = ({ organization }: Pick<Team, 'organization'>) =>
  conflict(
    `${nameOf(organization)} needs at least one owner. Add another user who has signed in to the owners team first.`,
  );
