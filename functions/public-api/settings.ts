import { type Route, versioned } from '#api/route.ts';
import { serve } from '#api/serve.ts';
import { dataRetentionRoutes } from '#removal/retention/routes.ts';
import { auditExportRoutes } from '#resources/audit/export-routes.ts';
import { ipAllowlistRoutes } from '#resources/ip-allowlists/routes.ts';
import { emailRecipientRoutes } from '#resources/notifications/email-routes.ts';
import { notificationRoutes } from '#resources/notifications/routes.ts';
import { runTriggerRoutes } from '#resources/runs/trigger-routes.ts';
import { effectiveVariableRoutes } from '#resources/runs/variable-routes.ts';
import { sshKeyRoutes } from '#resources/ssh-keys/routes.ts';
import { reservedTagKeyRoutes } from '#resources/tags/reserved-keys/routes.ts';
import { organizationTagRoutes } from '#resources/tags/routes.ts';
import { variableOfSetRoutes, variableRoutes } from '#resources/variables/routes.ts';
import { variableSetRoutes } from '#resources/variables/set-routes.ts';
import { workspaceTagRoutes } from '#resources/workspaces/tag-routes.ts';
import { authority } from './authority.ts';

/**
 * Variables and variable sets, tags and reserved tag keys, SSH keys, run triggers,
 * notifications, IP allowlists, the export of the audit trail.
 */
export const routes: Route[] = versioned([
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
  ...auditExportRoutes,
]);

export const handler = serve(routes, authority);
