import type { Resource } from '#clients/client/client.ts';
import { useList, useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { Ago, Code, Notice } from '#clients/web/parts/basics.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Page } from '#clients/web/parts/page.tsx';
import { Panel } from '#clients/web/parts/section.tsx';
import { all, call, get } from '#clients/web/session.ts';

interface Address {
  organization: string;
  registry: string;
  namespace: string;
  name: string;
}

interface ViewData {
  provider: Resource<'registry-providers'>;
  /** The newest first. */
  versions: Resource<'registry-provider-versions'>[];
}

const pathOf = ({ organization, registry, namespace, name }: Address): string => {
  const [of, ...parts] = [organization, registry, namespace, name].map(encodeURIComponent);
  return `/organizations/${of}/registry-providers/${parts.join('/')}`;
};

const load = async (address: Address): Promise<ViewData> => {
  const path = pathOf(address);
  const provider = await get<'registry-providers'>(path);
  if (address.registry === 'public') return { provider, versions: [] };
  return { provider, versions: (await all<'registry-provider-versions'>(`${path}/versions`)).data };
};

/** One provider of the registry: its versions and their platforms. */
export const ProviderView = (address: Address) => {
  const { organization, name } = address;
  const live = useLive(pathOf(address), () => load(address), 15_000);
  return (
    <Page
      title={`${name} · ${organization}`}
      organization={organization}
      crumbs={[{ text: 'Providers', to: { view: 'providers', organization } }, { text: name }]}
      live={live}
      what="provider"
    >
      {(loaded) => <Provider {...loaded} address={address} onChange={live.refresh} />}
    </Page>
  );
};

const Provider = ({ provider, versions, address, onChange }: ViewData & { address: Address; onChange(): void }) => {
  const { organization, name, namespace } = address;
  const mayDelete = provider.attributes.permissions['can-delete'];
  const [newest] = versions.filter(({ attributes }) => attributes['status-message'] === null);
  const path = pathOf(address);
  const remove = async () => {
    await call('DELETE', path);
    go({ view: 'providers', organization });
  };
  return (
    <>
      <Titled title={name} description={`${namespace}/${name}`}>
        {mayDelete && (
          <ConfirmButton text="Delete" title={`Delete ${name}?`} yes="Delete provider" typed={name} onYes={remove}>
            <Consequence />
          </ConfirmButton>
        )}
      </Titled>
      {address.registry === 'public' ? (
        <Notice>This provider is in the public registry; Terraform installs it from there.</Notice>
      ) : (
        <div class="stack">
          {newest && <Use address={address} version={newest.attributes.version} />}
          <Versions versions={versions} path={path} mayDelete={mayDelete} onChange={onChange} />
        </div>
      )}
    </>
  );
};

const Consequence = () => (
  <p>
    Configurations that use it fail in <code>terraform init</code>.
  </p>
);

const Use = ({ address: { namespace, name }, version }: { address: Address; version: string }) => (
  <Panel title="Use it" label="Use">
    <Code
      label="Configuration"
      text={`terraform {
  required_providers {
    ${name} = {
      source  = "localterraform.com/${namespace}/${name}"
      version = "${version}"
    }
  }
}`}
    />
  </Panel>
);

interface VersionsProps extends Pick<ViewData, 'versions'> {
  path: string;
  mayDelete: boolean;
  onChange(): void;
}

const Versions = ({ versions, path, mayDelete, onChange }: VersionsProps) => (
  <List
    label="Versions"
    of={versions}
    none="No versions yet. Publish one with the API: its checksums with a signature, and a zip archive for each platform."
  >
    {({ id, attributes: { version, 'status-message': message, 'key-id': key, 'created-at': at } }) => (
      <Item
        key={id}
        title={version}
        beside={
          message === null ? (
            <span class="status good">published</span>
          ) : (
            <span class="status attention">incomplete</span>
          )
        }
        meta={
          <>
            {message ?? <Platforms path={`${path}/versions/${version}/platforms`} />} · key{' '}
            <span class="mono">{key}</span> · <Ago at={at} />
          </>
        }
      >
        {mayDelete && (
          <ConfirmButton
            small
            text="Delete"
            of={version}
            title={`Delete version ${version}?`}
            yes="Delete version"
            onYes={() => call('DELETE', `${path}/versions/${encodeURIComponent(version)}`)}
            onClose={onChange}
          >
            <Consequence />
          </ConfirmButton>
        )}
      </Item>
    )}
  </List>
);

/** `linux_amd64, darwin_arm64` */
const Platforms = ({ path }: { path: string }) => {
  const live = useList<'registry-provider-platforms'>(path);
  if (live.error) return <>{live.error}</>;
  return <>{(live.value ?? []).map(({ attributes: { os, arch } }) => `${os}_${arch}`).join(', ') || '…'}</>;
};
