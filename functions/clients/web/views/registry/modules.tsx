import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useList } from '#clients/web/live.ts';
import { go } from '#clients/web/location.ts';
import { may, type OrganizationProps } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { DialogButton } from '#clients/web/parts/button.tsx';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Name, Text, type Values } from '#clients/web/parts/fields.tsx';
import { Search } from '#clients/web/parts/filters.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { call, create } from '#clients/web/session.ts';
import { configuration, type Picked, uploadModule } from '#clients/web/upload.ts';
import { addressOf, apiPath, usableVersions } from './module-api.ts';

/** Modules of the organization's private registry. */
export const Modules = ({ organization }: OrganizationProps) => {
  const live = useList<'registry-modules'>(`/organizations/${organization}/registry-modules`, 15_000);
  const search = useSignal('');
  const isSought = ({ attributes: { name, provider } }: Resource<'registry-modules'>) =>
    `${name} ${provider}`.toLowerCase().includes(search.value.trim().toLowerCase());
  return (
    <OrganizationShell
      organization={organization}
      at="modules"
      action={
        may(organization, 'can-create-module') && (
          <DialogButton text="Publish module" primary>
            {(close) => <NewModule organization={organization} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <Loaded live={live} what="modules">
        {(modules) =>
          modules.length === 0 ? (
            <p class="panel pad soft">
              No modules yet. Publish one to share Terraform configuration between workspaces, with versions and
              documentation.
            </p>
          ) : (
            <>
              <div class="row">
                <Search label="Search modules" text={search} />
              </div>
              <Found modules={modules.filter(isSought)} organization={organization} />
            </>
          )
        }
      </Loaded>
    </OrganizationShell>
  );
};

const Found = ({ modules, organization }: OrganizationProps & { modules: Resource<'registry-modules'>[] }) =>
  modules.length === 0 ? (
    <p class="soft">No modules match the search.</p>
  ) : (
    <List label="Modules" of={modules}>
      {(module) => {
        const { name, provider, 'no-code': noCode, 'registry-name': registry, 'vcs-repo': repo } = module.attributes;
        const versions = usableVersions(module).length;
        return (
          <Item
            key={module.id}
            to={{ ...addressOf(module, organization), view: 'module', tab: 'documentation' }}
            title={name}
            tags={[noCode && 'no-code', registry === 'public' && 'public registry']}
            meta={`${provider}${repo ? ` · published by tags of ${repo.identifier}` : ''}`}
            end={<ModuleStatus module={module} />}
            notes={[
              <>
                {versions > 0 && <>{count(versions, 'version')} · </>}
                <Ago at={module.attributes['updated-at']} />
              </>,
            ]}
          />
        );
      }}
    </List>
  );

/** The newest version, or the reason why no version exists. */
export const ModuleStatus = ({ module }: { module: Resource<'registry-modules'> }) => {
  const [newest] = usableVersions(module);
  const { status, 'registry-name': registry } = module.attributes;
  if (newest) return <span class="status good">{newest}</span>;
  if (registry === 'public') return null;
  return status === 'setup_failed' ? (
    <span class="status bad">publishing failed</span>
  ) : (
    <span class="status waiting">no version yet</span>
  );
};

const NewModule = ({ organization, onClose }: OrganizationProps & { onClose(): void }) => {
  const source = useSignal<Picked | undefined>(undefined);
  const submit = async (_: FormData, { version, ...fields }: Values) => {
    const { name, provider } = fields as { name: string; provider: string };
    const place = { organization, registry: 'private', namespace: organization, name, provider };
    const files = source.value;
    if (!files) throw new Error('Choose the folder with the files of the module.');
    await create(`/organizations/${organization}/registry-modules`, 'registry-modules', {
      ...fields,
      'registry-name': 'private',
    });
    try {
      await uploadModule(apiPath(place), String(version), files);
    } catch (error) {
      // Do not leave an empty module behind when publishing fails.
      await call('DELETE', apiPath(place)).catch(() => {});
      throw error;
    }
    go({ view: 'module', ...place, tab: 'documentation' });
  };
  return (
    <FormDialog title="Publish a module" submit="Publish" onSubmit={submit} onClose={onClose}>
      <Name hint="For example vpc." />
      <Text
        label="Provider"
        name="provider"
        required
        pattern="[a-z0-9]+"
        hint="The provider that it mainly uses, for example aws."
      />
      <VersionFields source={source} value="1.0.0" />
    </FormDialog>
  );
};

export const VersionFields = ({ source, value }: { source: { value: Picked | undefined }; value?: string }) => (
  <>
    <Text label="Version" name="version" required value={value} hint="A semantic version, for example 1.2.0." />
    <Picker
      label="Files"
      source={source}
      kind={configuration}
      says="Choose the folder of the module, with its .tf files, README.md and tests, or an archive (.tar.gz)."
    />
  </>
);
