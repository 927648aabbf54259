import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import type { ModuleTab } from '#clients/client/page-addresses.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may, useOrganization } from '#clients/web/organization.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Confirm } from '#clients/web/parts/dialog.tsx';
import { Shell } from '#clients/web/parts/shell.tsx';
import { Tabs } from '#clients/web/parts/tabs.tsx';
import { call } from '#clients/web/session.ts';
import { Documentation } from './documentation.tsx';
import { apiPath, type ModuleAddress, readModule } from './module-api.ts';
import { ModuleStatus } from './modules.tsx';
import { NewFromModule } from './new-from-module.tsx';
import { NoCodeSettings } from './no-code.tsx';
import { ModuleTests } from './tests.tsx';
import { Versions } from './versions.tsx';

type Module = Resource<'registry-modules'>;

const names: [Exclude<ModuleTab, 'new-workspace'>, string][] = [
  ['documentation', 'Documentation'],
  ['versions', 'Versions'],
  ['test-runs', 'Tests'],
  ['no-code', 'No-code'],
];

/** One module of the registry. */
export const ModuleView = ({ tab, ...address }: ModuleAddress & { tab: ModuleTab }) => {
  const { organization, name } = address;
  useOrganization(organization);
  const live = useLive(
    apiPath(address),
    () => readModule(address),
    ({ attributes }) => (attributes.status === 'pending' ? 2_000 : 15_000),
  );
  return (
    <Shell
      title={`${name} · ${organization}`}
      crumbs={[
        { text: organization, to: { view: 'workspaces', organization } },
        { text: 'Modules', to: { view: 'modules', organization } },
        { text: name },
      ]}
    >
      <Loaded live={live} what="module">
        {(module) => (
          <>
            <Head module={module} address={address} tab={tab} />
            {address.registry === 'public' ? (
              <PublicModule address={address} />
            ) : (
              <>
                <Tabs
                  label="Module"
                  tabs={names.map(([one, text]) => ({
                    text,
                    to: { ...address, view: 'module', tab: one },
                    current: one === tab,
                  }))}
                />
                <TabView tab={tab} module={module} address={address} live={live} />
              </>
            )}
          </>
        )}
      </Loaded>
    </Shell>
  );
};

interface TabProps {
  tab: ModuleTab;
  module: Module;
  address: ModuleAddress;
  live: Live<Module>;
}

const TabView = ({ tab, module, address, live }: TabProps) => {
  switch (tab) {
    case 'versions':
      return <Versions module={module} address={address} onChange={live.refresh} />;
    case 'test-runs':
      return <ModuleTests module={module} address={address} onChange={live.refresh} />;
    case 'no-code':
      return <NoCodeSettings module={module} address={address} onChange={live.refresh} />;
    case 'new-workspace':
      return <NewFromModule module={module} address={address} />;
    default:
      return <Documentation module={module} address={address} />;
  }
};

const Head = ({ module, address, tab }: Omit<TabProps, 'live'>) => {
  const { attributes } = module;
  const deleting = useSignal(false);
  const { organization } = address;
  const offersWorkspaces = attributes['no-code'] && tab !== 'new-workspace';
  return (
    <div class="row spread">
      <div class="grow stack tight">
        <div class="row">
          <h1>{attributes.name}</h1>
          <ModuleStatus module={module} />
          {attributes['no-code'] && <span class="tag">no-code</span>}
        </div>
        <p class="soft break">
          {attributes.namespace}/{attributes.name}/{attributes.provider}
          {attributes['vcs-repo'] && <> · published by tags of {attributes['vcs-repo'].identifier}</>}
        </p>
      </div>
      <div class="row">
        {offersWorkspaces && may(organization, 'can-deploy-no-code-modules') && (
          <a class="button primary" href={hrefOf({ ...address, view: 'module', tab: 'new-workspace' })}>
            New workspace
          </a>
        )}
        {attributes.permissions['can-delete'] && (
          <button type="button" class="danger" onClick={() => (deleting.value = true)}>
            Delete
          </button>
        )}
      </div>
      {deleting.value && (
        <Confirm
          title={`Delete ${attributes.name}?`}
          yes="Delete module"
          typed={attributes.name}
          onYes={async () => {
            await call('DELETE', apiPath(address));
            go({ view: 'modules', organization });
          }}
          onClose={() => (deleting.value = false)}
        >
          <p>
            All versions, test runs and test variables are deleted. Configurations that use the module fail in{' '}
            <code>terraform init</code>.
          </p>
        </Confirm>
      )}
    </div>
  );
};

const PublicModule = ({ address: { namespace, name, provider } }: { address: ModuleAddress }) => (
  <Notice>
    This module is in the public registry.{' '}
    <a
      href={`https://registry.terraform.io/modules/${namespace}/${name}/${provider}`}
      target="_blank"
      rel="noopener noreferrer"
    >
      See its documentation there
    </a>
    .
  </Notice>
);
