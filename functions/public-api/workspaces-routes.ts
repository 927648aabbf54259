import { type Route, versioned } from '#api/route.ts';
import { recoverableItemRoutes } from '#removal/recoverable-items/routes.ts';
import { deleteWorkspace } from '#removal/workspaces.ts';
import { workspaceSettingRoutes } from '#resources/workspaces/settings-routes.ts';
import { abandonVcsRepo, connectVcsRepo, prepareVcsRepo, settleVcsRepo } from '#version-control/vcs-repo.ts';

/**
 * Routes of the function Workspaces: creating, changing, deleting and recovering workspaces, with their repositories.
 */
export const workspaceChangeRoutes: Route[] = versioned([
  ...workspaceSettingRoutes(deleteWorkspace, {
    prepare: prepareVcsRepo,
    connect: connectVcsRepo,
    abandon: abandonVcsRepo,
    settle: settleVcsRepo,
  }),
  ...recoverableItemRoutes,
]);
