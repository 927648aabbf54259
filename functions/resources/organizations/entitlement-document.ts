import { maxTasks } from '#resources/run-tasks/records.ts';
import { maxWorkspaceTasks } from '#resources/run-tasks/workspace-tasks.ts';
import type { Organization } from './records.ts';

/** Features of this platform; the command line runs remotely only with `operations`. */
export const entitlementsDocument = (organization: Organization) => ({
  id: organization.externalId,
  type: 'entitlement-sets',
  attributes: {
    agents: true,
    'audit-logging': true,
    'configuration-designer': false,
    'cost-estimation': true,
    'global-run-tasks': true,
    operations: true,
    'policy-enforcement': true,
    'private-module-registry': true,
    'private-policy-agents': false,
    'private-run-tasks': false,
    'private-vcs': true,
    'run-tasks': true,
    'run-task-limit': maxTasks,
    'run-task-workspace-limit': maxWorkspaceTasks,
    'run-task-mandatory-enforcement-limit': null,
    'self-serve-billing': false,
    sentinel: false,
    sso: false,
    'state-storage': true,
    teams: true,
    'usage-reporting': false,
    'user-limit': null,
    'vcs-integrations': true,
    'waypoint-actions': false,
    'waypoint-templates-and-addons': false,
  },
  links: { self: `/api/v2/entitlement-sets/${organization.externalId}` },
});
