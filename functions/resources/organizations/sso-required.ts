import { unprocessable } from '#api/errors.ts';
import type { Principal } from '#api/permissions/principal.ts';
import { inBatches } from '#platform/store/batches.ts';
import { applyRules, getMembership, listMembers, requireSso, roleOf } from '#resources/users/memberships.ts';
import { getUser } from '#resources/users/users.ts';
import type { Organization, OrganizationSettings } from './records.ts';

/**
 * An organization that requires single sign-on accepts of its members only sessions that a sign-in at the issuer
 * started, and tokens of users with an identity there. One owner is exempt, so that a failing issuer does not lock the organization.
 */

const pointer = '/data/relationships/break-glass-owner';

interface Related {
  data: { id: string } | null;
}

/**
 * Completes the change: the owner who requires single sign-on is exempt, unless the request names another
 * owner.
 * @throws {ApiError} 422
 */
export const settleSso = async (
  change: Partial<OrganizationSettings>,
  related: Related | undefined,
  current: Organization,
  principal: Principal,
): Promise<void> => {
  const { ssoRequired = current.ssoRequired } = change;
  if (!ssoRequired) {
    if (related?.data) {
      throw unprocessable(pointer, 'break-glass-owner: needs sso-required. Without it, every owner may act');
    }
    if (current.breakGlassOwner) change.breakGlassOwner = null;
    return;
  }
  if (related && !related.data) throw unprocessable(pointer, 'break-glass-owner: one owner has to be named');
  const caller = principal.kind === 'user' ? principal.userId : undefined;
  const id = related?.data?.id ?? current.breakGlassOwner ?? caller;
  if (id === undefined) throw unprocessable(pointer, 'break-glass-owner: name an owner, or use a token of an owner');
  if (id === current.breakGlassOwner && current.ssoRequired) return;
  const [membership, user] = await Promise.all([getMembership(id, current.name), getUser(id)]);
  if (!membership || roleOf(membership) !== 'owner' || !user || user.service || user.invitedAt) {
    throw unprocessable(pointer, 'break-glass-owner: must be an owner who has signed in');
  }
  change.breakGlassOwner = id;
};

const none = { ssoRequired: undefined, breakGlass: undefined };

/**
 * Copies the requirement to the memberships, so that authorization takes one read. 1 read and 1 write per member after
 * a change; can be repeated.
 */
export const carrySso = async ({ name, ssoRequired, breakGlassOwner }: Organization): Promise<void> => {
  await inBatches(await listMembers(name), (userId) => {
    const membership = { userId, organization: name };
    return ssoRequired ? requireSso(membership, breakGlassOwner) : applyRules(membership, none);
  });
};
