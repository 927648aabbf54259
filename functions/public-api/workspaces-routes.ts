import { type Route, versioned } from '../api/route.ts';
import { recoverableItemRoutes } from '../recoverable-items/routes.ts';
import { deleteWorkspace } from '../removal/workspaces.ts';
import { abandonVcsRepo, connectVcsRepo, prepareVcsRepo, settleVcsRepo } from '../version-control/vcs-repo.ts';
import { workspaceSettingRoutes } from '../workspaces/settings-routes.ts';

/** What the function Workspaces answers: creating, changing, deleting and recovering workspaces, with their repositories. */
export const workspaceChangeRoutes: Route[] = versioned([
  ...workspaceSettingRoutes(deleteWorkspace, {
    prepare: prepareVcsRepo,
    connect: connectVcsRepo,
    abandon: abandonVcsRepo,
    settle: settleVcsRepo,
  }),
  ...recoverableItemRoutes,
]);
