import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { all } from '#clients/web/session.ts';

/** Providers of the organization's private registry. */
export const Providers = ({ organization }: { organization: string }) => {
  const live = useLive(
    `providers/${organization}`,
    async () => (await all<'registry-providers'>(`/organizations/${organization}/registry-providers`)).data,
    () => 15_000,
  );
  return (
    <OrganizationShell organization={organization} at="providers">
      <Head title="Providers" />
      <Loaded live={live} what="providers">
        {(providers) =>
          providers.length === 0 ? (
            <p class="panel pad soft">
              No providers yet. Publish your own with the API: a version, its checksums with a signature, and a zip
              archive for each platform.
            </p>
          ) : (
            <ul class="panel list" aria-label="Providers">
              {providers.map((provider) => (
                <Line key={provider.id} provider={provider} organization={organization} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </OrganizationShell>
  );
};

const Line = ({ provider, organization }: { provider: Resource<'registry-providers'>; organization: string }) => {
  const { name, namespace, 'registry-name': registry, 'updated-at': at } = provider.attributes;
  const versions = provider.relationships?.['registry-provider-versions']?.data;
  return (
    <li>
      <a class="item" href={hrefOf({ view: 'provider', organization, registry, namespace, name })}>
        <span class="row">
          <span class="title">{name}</span>
          {registry === 'public' && <span class="tag">public registry</span>}
        </span>
        <span class="meta">
          {namespace}/{name}
        </span>
        <span class="end meta">
          {count(Array.isArray(versions) ? versions.length : 0, 'version')}
          <Ago at={at} />
        </span>
      </a>
    </li>
  );
};
