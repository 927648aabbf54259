import { type Route, versioned } from '../api/route.ts';
import { dataRetentionRoutes } from '../data-retention/routes.ts';
import { ipAllowlistRoutes } from '../ip-allowlists/routes.ts';
import { emailRecipientRoutes } from '../notifications/email-routes.ts';
import { notificationRoutes } from '../notifications/routes.ts';
import { organizationTagRoutes } from '../organization-tags/routes.ts';
import { reservedTagKeyRoutes } from '../reserved-tag-keys/routes.ts';
import { runTriggerRoutes } from '../runs/trigger-routes.ts';
import { effectiveVariableRoutes } from '../runs/variable-routes.ts';
import { sshKeyRoutes } from '../ssh-keys/routes.ts';
import { variableOfSetRoutes, variableRoutes } from '../variables/routes.ts';
import { variableSetRoutes } from '../variables/set-routes.ts';
import { workspaceTagRoutes } from '../workspaces/tag-routes.ts';

/** What the function Settings answers: variables and variable sets, tags and reserved tag keys, SSH keys, run triggers, notifications, IP allowlists. */
export const settingRoutes: Route[] = versioned([
  ...variableSetRoutes,
  ...variableRoutes,
  ...effectiveVariableRoutes,
  ...variableOfSetRoutes,
  ...workspaceTagRoutes,
  ...organizationTagRoutes,
  ...reservedTagKeyRoutes,
  ...sshKeyRoutes,
  ...runTriggerRoutes,
  ...notificationRoutes,
  ...emailRecipientRoutes,
  ...dataRetentionRoutes,
  ...ipAllowlistRoutes,
]);
