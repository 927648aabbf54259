import { inBatches } from '#platform/store/batches.ts';
import { keys } from '#platform/store/keys.ts';
import { update } from '#platform/store/table.ts';
import type { Organization } from '#resources/organizations/records.ts';
import { accountOfScim } from '#resources/users/accounts.ts';
import { deleteTokensOf } from '#resources/users/tokens.ts';
import { configurationId, deleteConfiguration } from './configurations.ts';
import { getGroups, listGroupIds, unlinkGroup } from './groups/records.ts';
import { deleteScimUser, getScimUsers, listScimUserIds } from './users/records.ts';

/**
 * Ends a directory's access, then forgets what it sent. Members and teams stay, and are no longer the directory's. Can
 * be repeated.
 */
export const removeProvisioning = async (home: Pick<Organization, 'name' | 'externalId'>): Promise<void> => {
  const id = configurationId(home);
  await deleteTokensOf(accountOfScim(home));
  const users = await getScimUsers(await listScimUserIds(id));
  await inBatches(users, async (user) => {
    if (user.userId !== undefined) {
      await update(keys.membership(user.userId, home.name), {
        remove: ['scim'],
        condition: 'scim.id = :id',
        values: { ':id': user.id },
      });
    }
    await deleteScimUser(user);
  });
  await inBatches(await getGroups(id, await listGroupIds(id)), unlinkGroup);
  await deleteConfiguration(home);
};
