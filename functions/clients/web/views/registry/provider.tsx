import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { Ago, Code, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
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
  const live = useLive(
    pathOf(address),
    () => load(address),
    () => 15_000,
  );
  return (
    <Shell
      title={`${name} · ${organization}`}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: 'Providers', to: { view: 'providers', organization } },
        { text: name },
      ]}
    >
      <Loaded live={live} what="provider">
        {(loaded) => <Provider {...loaded} address={address} onChange={live.refresh} />}
      </Loaded>
    </Shell>
  );
};

const Provider = ({ provider, versions, address, onChange }: ViewData & { address: Address; onChange(): void }) => {
  const { name, namespace } = address;
  const deleting = useSignal<string | undefined>(undefined);
  const mayDelete = provider.attributes.permissions['can-delete'];
  const [newest] = versions.filter(({ attributes }) => attributes['status-message'] === null);
  const path = pathOf(address);
  return (
    <>
      <div class="row spread">
        <div class="grow stack tight">
          <h1>{name}</h1>
          <p class="soft break">
            {namespace}/{name}
          </p>
        </div>
        {mayDelete && (
          <button type="button" class="danger" onClick={() => (deleting.value = '')}>
            Delete
          </button>
        )}
      </div>
      {address.registry === 'public' ? (
        <Notice>This provider is in the public registry; Terraform installs it from there.</Notice>
      ) : (
        <div class="stack">
          {newest && <Use address={address} version={newest.attributes.version} />}
          <Versions
            versions={versions}
            path={path}
            onDelete={mayDelete ? (version) => (deleting.value = version) : undefined}
          />
        </div>
      )}
      {deleting.value !== undefined && (
        <Confirm
          title={`Delete ${deleting.value ? `version ${deleting.value}` : name}?`}
          yes={deleting.value ? 'Delete version' : 'Delete provider'}
          typed={deleting.value ? undefined : name}
          onYes={async () => {
            await call('DELETE', deleting.value ? `${path}/versions/${encodeURIComponent(deleting.value)}` : path);
            if (deleting.value) onChange();
            else go({ view: 'providers', organization: address.organization });
          }}
          onClose={() => (deleting.value = undefined)}
        >
          <p>
            Configurations that use it fail in <code>terraform init</code>.
          </p>
        </Confirm>
      )}
    </>
  );
};

const Use = ({ address: { namespace, name }, version }: { address: Address; version: string }) => (
  <section class="panel pad stack" aria-label="Use">
    <h2>Use it</h2>
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
  </section>
);

interface VersionsProps {
  versions: ViewData['versions'];
  path: string;
  onDelete: ((version: string) => void) | undefined;
}

const Versions = ({ versions, path, onDelete }: VersionsProps) =>
  versions.length === 0 ? (
    <p class="panel pad soft">No versions yet.</p>
  ) : (
    <ul class="panel list" aria-label="Versions">
      {versions.map(({ id, attributes }) => (
        <li key={id} class="item">
          <span class="row">
            <span class="title">{attributes.version}</span>
            {attributes['status-message'] === null ? (
              <span class="status good">published</span>
            ) : (
              <span class="status attention">incomplete</span>
            )}
          </span>
          <span class="meta break">
            {attributes['status-message'] ?? <Platforms path={`${path}/versions/${attributes.version}`} />} · key{' '}
            <span class="mono">{attributes['key-id']}</span> · <Ago at={attributes['created-at']} />
          </span>
          {onDelete && (
            <span class="end">
              <SmallButton text="Delete" of={attributes.version} danger onClick={() => onDelete(attributes.version)} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );

/** `linux_amd64, darwin_arm64` */
const Platforms = ({ path }: { path: string }) => {
  const live = useLive(
    `${path}/platforms`,
    async () => (await all<'registry-provider-platforms'>(`${path}/platforms`)).data,
    () => undefined,
  );
  if (live.error) return <>{live.error}</>;
  return <>{(live.value ?? []).map(({ attributes: { os, arch } }) => `${os}_${arch}`).join(', ') || '…'}</>;
};
