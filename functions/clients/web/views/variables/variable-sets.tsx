import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Choice, Text } from '#clients/web/parts/fields.tsx';
import { Item } from '#clients/web/parts/list.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Variable sets of an organization. */
export const VariableSets = ({ organization }: OrganizationProps) => (
  <ResourceList
    organization={organization}
    view="variable-set"
    empty="No variable sets yet. Create one to share variables, such as cloud credentials, between workspaces."
    fields={<SetFields />}
  >
    {({ id, attributes }, to) => (
      <Item
        key={id}
        to={to}
        title={attributes.name}
        tags={[attributes.priority && 'priority']}
        meta={attributes.description || `Applied to ${reachOf(attributes)}`}
        notes={[count(attributes['var-count'], 'variable'), reachOf(attributes)]}
      />
    )}
  </ResourceList>
);

type Reach = Pick<Resource<'varsets'>['attributes'], 'global' | 'project-count' | 'workspace-count'>;

/** What a variable set or a policy set applies to: `2 projects and 1 workspace` */
export const reachOf = ({ global, 'project-count': projects, 'workspace-count': workspaces }: Reach): string => {
  if (global) return 'all workspaces';
  const parts = [projects && count(projects, 'project'), workspaces && count(workspaces, 'workspace')];
  return parts.filter(Boolean).join(' and ') || 'no workspaces';
};

export const SetFields = () => (
  <>
    <Text label="Name" name="name" required autoFocus />
    <Text label="Description" name="description" />
    <Choice name="global" label="Apply to all workspaces" hint="Including workspaces created later." />
    <Choice
      name="priority"
      label="Prioritize over workspace variables"
      hint="Otherwise, a workspace variable with the same name takes precedence."
    />
  </>
);
