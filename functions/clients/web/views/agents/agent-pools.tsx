import { count } from '#clients/client/text/time.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Choice, Name } from '#clients/web/parts/fields.tsx';
import { Item } from '#clients/web/parts/list.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Agent pools of an organization. */
export const AgentPools = ({ organization }: OrganizationProps) => (
  <ResourceList
    organization={organization}
    view="agent-pool"
    empty="No agent pools yet. Create one to run Terraform on your own machines, for example inside a private network. Agents need outbound access only."
    fields={<AgentPoolFields />}
  >
    {({ id, attributes }, to) => (
      <Item
        key={id}
        to={to}
        title={attributes.name}
        meta={attributes['organization-scoped'] ? 'All workspaces' : 'Selected workspaces'}
        notes={[count(attributes['agent-count'], 'active agent')]}
      />
    )}
  </ResourceList>
);

export const AgentPoolFields = () => (
  <>
    <Name hint="Letters, digits, - and _. For example office or vpc-production." />
    <Choice
      name="organization-scoped"
      label="Allow all workspaces"
      hint="Otherwise, select the workspaces and projects that can use it."
      initial
    />
  </>
);
