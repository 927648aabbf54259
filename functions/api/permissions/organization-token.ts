import { type Permissions, permissions } from './permissions.ts';

/** Permissions that the organization's own token lacks (HCP Terraform: API tokens, access levels). */
const notByOrganization: Permissions = [
  'organization:update',
  'organization:delete',
  'organization:manage-tokens',
  'run:plan',
  'run:comment',
  'run:apply',
  'run:force-cancel',
  'run:override-policy',
  'plan:read-json',
  'plan:export',
  'state:write',
];

/** Permissions of the organization's own token. */
export const organizationToken: Permissions = permissions.filter(
  (permission) => !notByOrganization.includes(permission),
);
