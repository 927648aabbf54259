import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { ResourceList } from '#clients/web/parts/resource-list.tsx';

/** IP allowlists of an organization and its agent pools. */
export const IpAllowlists = ({ organization }: { organization: string }) => (
  <ResourceList
    organization={organization}
    noun="IP allowlist"
    type="cidr-range-lists"
    view="ip-allowlist"
    permission="can-manage-ip-allowlists"
    empty="No IP allowlists yet. Create one to restrict the networks from which members, teams and agents can call this organization. Owners are never locked out."
    line={(list) => (
      <>
        <span class="title">{list.attributes.name}</span>
        <span class="meta">
          {scopeNames[list.attributes['enforcement-scope']]}
          {list.attributes.description && ` · ${list.attributes.description}`}
        </span>
        <span class="end meta">{count(related(list, 'cidr-ranges').length, 'range')}</span>
      </>
    )}
    fields={<IpAllowlistFields />}
    attributesOf={ipAllowlistOf}
  />
);

export const scopeNames: Record<string, string> = {
  organization: 'Entire organization',
  all_agent_pools: 'All agent pools',
  selected_agent_pools: 'Selected agent pools',
};

export const related = (list: Resource<'cidr-range-lists'>, name: string): string[] => {
  const data = list.relationships?.[name]?.data;
  return Array.isArray(data) ? data.map(({ id }) => id) : [];
};

export const IpAllowlistFields = ({ list }: { list?: Resource<'cidr-range-lists'> }) => (
  <>
    <Text label="Name" name="name" required autoFocus={!list} value={list?.attributes.name} />
    <Text label="Description" name="description" value={list?.attributes.description ?? ''} />
    <Select
      label="Applies to"
      name="enforcement-scope"
      options={Object.entries(scopeNames)}
      value={list?.attributes['enforcement-scope'] ?? 'organization'}
      hint="Entire organization: members, teams and tokens, but not agents. One list can have this scope."
    />
  </>
);

export const ipAllowlistOf = (data: FormData) => ({
  name: textOf(data, 'name'),
  description: textOf(data, 'description') ?? '',
  'enforcement-scope': data.get('enforcement-scope'),
});
