import { relatedIds } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Select, Text } from '#clients/web/parts/fields.tsx';
import { Item } from '#clients/web/parts/list.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** IP allowlists of an organization and its agent pools. */
export const IpAllowlists = ({ organization }: OrganizationProps) => (
  <ResourceList
    organization={organization}
    view="ip-allowlist"
    empty="No IP allowlists yet. Create one to restrict the networks from which members, teams and agents can call this organization. Owners are never locked out."
    fields={<IpAllowlistFields />}
  >
    {(list, to) => (
      <Item
        key={list.id}
        to={to}
        title={list.attributes.name}
        meta={[scopeNames[list.attributes['enforcement-scope']], list.attributes.description]
          .filter(Boolean)
          .join(' · ')}
        notes={[count(relatedIds(list, 'cidr-ranges').length, 'range')]}
      />
    )}
  </ResourceList>
);

export const scopeNames: Record<string, string> = {
  organization: 'Entire organization',
  all_agent_pools: 'All agent pools',
  selected_agent_pools: 'Selected agent pools',
};

export const IpAllowlistFields = () => (
  <>
    <Text label="Name" name="name" required autoFocus />
    <Text label="Description" name="description" />
    <Select
      label="Applies to"
      name="enforcement-scope"
      options={Object.entries(scopeNames)}
      hint="Entire organization: members, teams and tokens, but not agents. One list can have this scope."
    />
  </>
);
