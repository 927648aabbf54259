import { type Answer, noContent } from '#api/answer.ts';
import { conflict } from '#api/errors.ts';
import { byId } from '#api/finders.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { endRecovery } from '#removal/workspaces.ts';
import { getRecoverable, type Recoverable } from './records.ts';
import { recover } from './recover.ts';

/** Recovers deleted workspaces, and deletes them permanently (HCP API: recoverable items). */

/** Users who could see the workspace see the item; the workspace's own item still holds the grants of teams. */
const item = byId({
  what: 'recoverable item',
  parameter: 'recoverableItem',
  get: getRecoverable,
  visibleWith: 'workspace:read',
  scope: (workspace) => ({ organization: workspace.organization, workspace }),
});

const deleteForGood = async ({ subject }: Context<Recoverable>): Promise<Answer> => {
  if (await endRecovery(subject.id)) return noContent();
  throw conflict(`Workspace ${subject.name} was recovered at the same time.`);
};

const path = '/recoverable-items/{recoverableItem}/actions';

export const recoverableItemRoutes: Route[] = [
  // Recovering a workspace, and deleting it permanently, require the permission to delete it.
  route('PUT', `${path}/recover`, 'workspace:delete', item, noContentAfter(recover)),
  route('PUT', `${path}/permanently-delete`, 'workspace:delete', item, deleteForGood),
];
