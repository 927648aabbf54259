import type { OrganizationProps } from '../organization.ts';
import { Empty } from './section.tsx';

/** Empty state of people who see no workspace and may create none. */
export const NoAccess = ({ organization }: OrganizationProps) => (
  <Empty title="No workspaces available">
    <p class="soft">Your teams have no access to workspaces. Ask an owner of {organization} for access.</p>
  </Empty>
);
