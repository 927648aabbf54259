import type { OrganizationView } from '#clients/client/page-addresses.ts';
import type { OrganizationPermission } from './organization.ts';

interface Section {
  view: OrganizationView;
  name: string;
  /** Permission that the section needs. */
  permission?: OrganizationPermission;
}

/** Navigation of an organization: a link for each group, and one for each section of the current group. */
export const sectionGroups: readonly { name: string; sections: readonly Section[] }[] = [
  { name: 'Overview', sections: [{ view: 'overview', name: 'Overview' }] },
  {
    name: 'Workspaces',
    sections: [
      { view: 'workspaces', name: 'Workspaces' },
      { view: 'projects', name: 'Projects' },
      { view: 'explorer', name: 'Explorer', permission: 'can-view-explorer' },
    ],
  },
  { name: 'Runs', sections: [{ view: 'queue', name: 'Runs' }] },
  {
    name: 'Environments',
    sections: [
      { view: 'environments', name: 'Environments', permission: 'can-use-environments' },
      { view: 'templates', name: 'Templates', permission: 'can-use-environments' },
    ],
  },
  {
    name: 'Registry',
    sections: [
      { view: 'modules', name: 'Modules', permission: 'can-view-registry' },
      { view: 'providers', name: 'Providers', permission: 'can-view-registry' },
    ],
  },
  {
    name: 'Variable sets',
    sections: [{ view: 'variable-sets', name: 'Variable sets', permission: 'can-read-varsets' }],
  },
  {
    name: 'Policies',
    sections: [
      { view: 'policy-sets', name: 'Policy sets', permission: 'can-read-policies' },
      { view: 'run-tasks', name: 'Run tasks', permission: 'can-read-run-tasks' },
    ],
  },
  {
    name: 'Access',
    sections: [
      { view: 'teams', name: 'Teams' },
      { view: 'members', name: 'Members', permission: 'can-view-users' },
      { view: 'ip-allowlists', name: 'IP allowlists', permission: 'can-manage-ip-allowlists' },
      { view: 'audit-trail', name: 'Audit trail', permission: 'can-read-audit-trail' },
    ],
  },
  {
    name: 'Settings',
    sections: [
      { view: 'organization-settings', name: 'Settings' },
      { view: 'version-control', name: 'Version control', permission: 'can-update-oauth' },
      { view: 'agent-pools', name: 'Agents', permission: 'can-update-agent-pools' },
    ],
  },
];
