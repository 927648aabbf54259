import type { Resource } from '#clients/client/client.ts';
import type { ModuleTab } from '#clients/client/page-addresses.ts';
import { type Live, useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may, useOrganization } from '#clients/web/organization.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { ConfirmButton } from '#clients/web/parts/dialog.tsx';
import { Titled } from '#clients/web/parts/head.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Page } from '#clients/web/parts/page.tsx';
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
    <Page
      title={`${name} · ${organization}`}
      organization={organization}
      crumbs={[{ text: 'Modules', to: { view: 'modules', organization } }, { text: name }]}
      live={live}
      what="module"
    >
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
    </Page>
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
  const { name, namespace, provider, 'vcs-repo': repo, 'no-code': noCode, permissions } = module.attributes;
  const { organization } = address;
  const remove = async () => {
    await call('DELETE', apiPath(address));
    go({ view: 'modules', organization });
  };
  return (
    <Titled
      title={name}
      beside={
        <>
          <ModuleStatus module={module} />
          <Tags of={[noCode && 'no-code']} />
        </>
      }
      description={`${namespace}/${name}/${provider}${repo ? ` · published by tags of ${repo.identifier}` : ''}`}
    >
      {noCode && tab !== 'new-workspace' && may(organization, 'can-deploy-no-code-modules') && (
        <a class="button primary" href={hrefOf({ ...address, view: 'module', tab: 'new-workspace' })}>
          New workspace
        </a>
      )}
      {permissions['can-delete'] && (
        <ConfirmButton text="Delete" title={`Delete ${name}?`} yes="Delete module" typed={name} onYes={remove}>
          <p>
            All versions, test runs and test variables are deleted. Configurations that use the module fail in{' '}
            <code>terraform init</code>.
          </p>
        </ConfirmButton>
      )}
    </Titled>
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
