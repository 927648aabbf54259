import { relatedIds } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useList } from '#clients/web/live.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { Ago } from '#clients/web/parts/basics.tsx';
import { Item, LiveList } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';

/** Providers of the organization's private registry. */
export const Providers = ({ organization }: OrganizationProps) => (
  <OrganizationShell organization={organization} at="providers">
    <LiveList
      live={useList<'registry-providers'>(`/organizations/${organization}/registry-providers`, 15_000)}
      what="providers"
      none="No providers yet. Publish your own with the API: a version, its checksums with a signature, and a zip archive for each platform."
    >
      {(provider) => {
        const { name, namespace, 'registry-name': registry, 'updated-at': at } = provider.attributes;
        return (
          <Item
            key={provider.id}
            to={{ view: 'provider', organization, registry, namespace, name }}
            title={name}
            tags={[registry === 'public' && 'public registry']}
            meta={`${namespace}/${name}`}
            notes={[
              count(relatedIds(provider, 'registry-provider-versions').length, 'version'),
              <Ago key="at" at={at} />,
            ]}
          />
        );
      }}
    </LiveList>
  </OrganizationShell>
);
