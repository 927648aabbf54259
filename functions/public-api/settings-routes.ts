import { type Route, versioned } from '../api/route.ts';
import { notificationRoutes } from '../notifications/routes.ts';
import { organizationTagRoutes } from '../organization-tags/routes.ts';
import { deleteWorkspace } from '../removal/workspaces.ts';
import { runTriggerRoutes } from '../runs/trigger-routes.ts';
import { effectiveVariableRoutes } from '../runs/variable-routes.ts';
import { sshKeyRoutes } from '../ssh-keys/routes.ts';
import { variableOfSetRoutes, variableRoutes } from '../variables/routes.ts';
import { variableSetRoutes } from '../variables/set-routes.ts';
import { abandonVcsRepo, connectVcsRepo, prepareVcsRepo, settleVcsRepo } from '../version-control/vcs-repo.ts';
import { workspaceSettingRoutes } from '../workspaces/settings-routes.ts';
import { workspaceTagRoutes } from '../workspaces/tag-routes.ts';

/** What the function Settings answers: workspaces as they come, change and go, variables and sets of them, tags, SSH keys, which workspace's applies start runs, and who is told of them. */
export const settingRoutes: Route[] = versioned([
  ...workspaceSettingRoutes(deleteWorkspace, {
    prepare: prepareVcsRepo,
    connect: connectVcsRepo,
    abandon: abandonVcsRepo,
    settle: settleVcsRepo,
  }),
  ...variableSetRoutes,
  ...variableRoutes,
  ...effectiveVariableRoutes,
  ...variableOfSetRoutes,
  ...workspaceTagRoutes,
  ...organizationTagRoutes,
  ...sshKeyRoutes,
  ...runTriggerRoutes,
  ...notificationRoutes,
]);
