import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { Choice, Text, textOf } from '#clients/web/parts/form.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** Agent pools of an organization. */
export const AgentPools = ({ organization }: { organization: string }) => (
  <ResourceList
    organization={organization}
    noun="agent pool"
    type="agent-pools"
    view="agent-pool"
    permission="can-update-agent-pools"
    empty="No agent pools yet. Create one to run Terraform on your own machines, for example inside a private network. Agents need outbound access only."
    line={({ attributes }) => (
      <>
        <span class="title">{attributes.name}</span>
        <span class="meta">{attributes['organization-scoped'] ? 'All workspaces' : 'Selected workspaces'}</span>
        <span class="end meta">{count(attributes['agent-count'], 'active agent')}</span>
      </>
    )}
    fields={<AgentPoolFields />}
    attributesOf={agentPoolOf}
  />
);

export const AgentPoolFields = ({ pool }: { pool?: Resource<'agent-pools'> }) => (
  <>
    <Text
      label="Name"
      name="name"
      required
      autoFocus={!pool}
      value={pool?.attributes.name}
      pattern="[A-Za-z0-9_\-]+"
      hint="Letters, digits, - and _. For example office or vpc-production."
    />
    <Choice
      name="organization-scoped"
      label="Allow all workspaces"
      hint="Otherwise, select the workspaces and projects that can use it."
      checked={pool?.attributes['organization-scoped'] ?? true}
    />
  </>
);

export const agentPoolOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  'organization-scoped': data.has('organization-scoped'),
});
