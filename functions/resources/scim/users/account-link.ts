import { keys } from '#platform/store/keys.ts';
import { update, updateExisting } from '#platform/store/table.ts';
import type { Membership } from '#resources/users/memberships.ts';

/**
 * Links a provisioned user to the account that takes over the invitation of a former one (users/invitations.ts). Can be
 * repeated.
 */
export const moveScimUser = async (former: Membership, userId: string): Promise<void> => {
  const { scim, organization } = former;
  if (!scim) return;
  const moved = await update(keys.scimUser(scim.id), {
    set: { userId },
    condition: 'userId = :from OR userId = :to',
    values: { ':from': former.userId, ':to': userId },
  });
  if (!moved) return;
  await updateExisting<Membership>(keys.membership(userId, organization), {
    set: { scim },
    condition: 'attribute_not_exists(scim)',
  });
};
