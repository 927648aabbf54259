import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Select, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { all, create } from '#clients/web/session.ts';

/** IP allowlists of an organization and its agent pools. */
export const IpAllowlists = ({ organization }: { organization: string }) => {
  const live = useLive(
    `ip-allowlists/${organization}`,
    async () => (await all<'cidr-range-lists'>(`/organizations/${organization}/cidr-range-lists`)).data,
    () => 30_000,
  );
  const adding = useSignal(false);
  return (
    <OrganizationShell organization={organization} at="ip-allowlists">
      <Head
        title="IP allowlists"
        add="New IP allowlist"
        onAdd={may(organization, 'can-manage-ip-allowlists') && (() => (adding.value = true))}
      />
      <Loaded live={live} what="IP allowlists">
        {(lists) =>
          lists.length === 0 ? (
            <p class="panel pad soft">
              No IP allowlists yet. Create one to restrict the networks from which members, teams and agents can call
              this organization. Owners are never locked out.
            </p>
          ) : (
            <ul class="panel list" aria-label="IP allowlists">
              {lists.map((list) => (
                <Line key={list.id} list={list} organization={organization} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {adding.value && <NewIpAllowlist organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

export const scopeNames: Record<string, string> = {
  organization: 'Entire organization',
  all_agent_pools: 'All agent pools',
  selected_agent_pools: 'Selected agent pools',
};

export const related = (list: Resource<'cidr-range-lists'>, name: string): string[] => {
  const data = list.relationships?.[name]?.data;
  return Array.isArray(data) ? data.map(({ id }) => id) : [];
};

const Line = ({ list, organization }: { list: Resource<'cidr-range-lists'>; organization: string }) => {
  const { name, description, 'enforcement-scope': scope } = list.attributes;
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'ip-allowlist', organization, id: list.id })}>
        <span class="title">{name}</span>
        <span class="meta">
          {scopeNames[scope]}
          {description && ` · ${description}`}
        </span>
        <span class="end meta">{count(related(list, 'cidr-ranges').length, 'range')}</span>
      </a>
    </li>
  );
};

const NewIpAllowlist = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const submit = async (data: FormData) => {
    const path = `/organizations/${organization}/cidr-range-lists`;
    const list = await create(path, 'cidr-range-lists', ipAllowlistOf(data));
    go({ view: 'ip-allowlist', organization, id: list.id });
  };
  return (
    <Dialog title="New IP allowlist" onClose={onClose}>
      <Form submit="Create IP allowlist" onSubmit={submit} onCancel={onClose}>
        <IpAllowlistFields />
      </Form>
    </Dialog>
  );
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
