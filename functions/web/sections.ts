import type { OrganizationView } from '../client/page-addresses.ts';
import type { OrganizationPermission } from './organization.ts';

/** The views of an organization, each with the permission without which there is nothing to see. */
export const sections: readonly (readonly [
  view: OrganizationView,
  name: string,
  permission?: OrganizationPermission,
])[] = [
  ['overview', 'Overview'],
  ['workspaces', 'Workspaces'],
  ['queue', 'Runs'],
  ['projects', 'Projects'],
  ['variable-sets', 'Variable sets', 'can-read-varsets'],
  ['run-tasks', 'Run tasks', 'can-read-run-tasks'],
  ['policy-sets', 'Policy sets', 'can-read-policies'],
  ['agent-pools', 'Agents', 'can-update-agent-pools'],
  ['version-control', 'Version control', 'can-update-oauth'],
  ['teams', 'Teams'],
  ['members', 'Members', 'can-view-users'],
  ['audit-trail', 'Audit trail', 'can-read-audit-trail'],
  ['organization-settings', 'Settings'],
];
