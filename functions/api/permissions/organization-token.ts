import { type Permissions, permissions } from './permissions.ts';

/** What the organization's own token is not for (HCP Terraform: API tokens, access levels). */
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

/** Of the organization's own token. */
export const organizationToken: Permissions = permissions.filter(
  (permission) => !notByOrganization.includes(permission),
);
