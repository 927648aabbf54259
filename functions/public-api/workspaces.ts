import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { recoverableItemRoutes } from '#removal/recoverable-items/routes.ts';
import { deleteWorkspace } from '#removal/workspaces.ts';
import { workspaceSettingRoutes } from '#resources/workspaces/settings-routes.ts';
import { abandonVcsRepo, connectVcsRepo, prepareVcsRepo, settleVcsRepo } from '#version-control/vcs-repo.ts';
import { authority } from './authority.ts';

/**
 * Creating, changing, deleting and recovering workspaces, with their repositories.
 */
export const routes: Route[] = versioned([
  ...workspaceSettingRoutes(deleteWorkspace, {
    prepare: prepareVcsRepo,
    connect: connectVcsRepo,
    abandon: abandonVcsRepo,
    settle: settleVcsRepo,
  }),
  ...recoverableItemRoutes,
]);

export const handler = serve(routes, authority);
