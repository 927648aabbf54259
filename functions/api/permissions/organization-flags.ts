/** Permissions of a team in its whole organization (HCP API: teams, organization-access). */
export const organizationFlags = [
  'manage-policies',
  'manage-workspaces',
  'manage-vcs-settings',
  'manage-policy-overrides',
  'delegate-policy-overrides',
  'manage-modules',
  'manage-providers',
  'manage-run-tasks',
  'manage-projects',
  'manage-membership',
  'manage-teams',
  'manage-organization-access',
  'access-secret-teams',
  'read-projects',
  'read-workspaces',
  'manage-agent-pools',
  'manage-public-providers',
  'manage-public-modules',
  'manage-registry-components',
  'manage-registry-artifact-tags',
  'manage-registry-artifact-version-tags',
] as const;

export type OrganizationFlag = (typeof organizationFlags)[number];
