import type { OrganizationView } from '#clients/client/page-addresses.ts';
import type { OrganizationPermission } from './organization.ts';

interface Section {
  view: OrganizationView;
  name: string;
  /** Permission that the section needs. */
  permission?: OrganizationPermission;
}

/** Navigation of an organization, in groups. */
export const sectionGroups: readonly { name: string; sections: readonly Section[] }[] = [
  {
    name: 'Runs',
    sections: [
      { view: 'overview', name: 'Overview' },
      { view: 'workspaces', name: 'Workspaces' },
      { view: 'queue', name: 'Runs' },
      { view: 'projects', name: 'Projects' },
      { view: 'explorer', name: 'Explorer', permission: 'can-view-explorer' },
    ],
  },
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
    name: 'Shared',
    sections: [
      { view: 'variable-sets', name: 'Variable sets', permission: 'can-read-varsets' },
      { view: 'run-tasks', name: 'Run tasks', permission: 'can-read-run-tasks' },
      { view: 'policy-sets', name: 'Policy sets', permission: 'can-read-policies' },
      { view: 'version-control', name: 'Version control', permission: 'can-update-oauth' },
      { view: 'agent-pools', name: 'Agents', permission: 'can-update-agent-pools' },
    ],
  },
  {
    name: 'Organization',
    sections: [
      { view: 'teams', name: 'Teams' },
      { view: 'members', name: 'Members', permission: 'can-view-users' },
      { view: 'ip-allowlists', name: 'IP allowlists', permission: 'can-manage-ip-allowlists' },
      { view: 'audit-trail', name: 'Audit trail', permission: 'can-read-audit-trail' },
      { view: 'organization-settings', name: 'Settings' },
    ],
  },
];
