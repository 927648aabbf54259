import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { go, hrefOf } from '#clients/web/location.ts';
import { may } from '#clients/web/organization.ts';
import { Ago, Loaded } from '#clients/web/parts/basics.tsx';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Form, Text, textOf } from '#clients/web/parts/form.tsx';
import { Head } from '#clients/web/parts/head.tsx';
import { OrganizationShell } from '#clients/web/parts/organization-shell.tsx';
import { Picker } from '#clients/web/parts/picker.tsx';
import { all, call, create } from '#clients/web/session.ts';
import { configuration, type Picked, uploadModule } from '#clients/web/upload.ts';
import { addressOf, apiPath, usableVersions } from './module-api.ts';

/** Modules of the organization's private registry. */
export const Modules = ({ organization }: { organization: string }) => {
  const live = useLive(
    `modules/${organization}`,
    async () => (await all<'registry-modules'>(`/organizations/${organization}/registry-modules`)).data,
    () => 15_000,
  );
  const adding = useSignal(false);
  const search = useSignal('');
  return (
    <OrganizationShell organization={organization} at="modules">
      <Head
        title="Modules"
        add="Publish module"
        onAdd={may(organization, 'can-create-module') && (() => (adding.value = true))}
      />
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
                <input
                  type="search"
                  aria-label="Search modules"
                  placeholder="Search modules"
                  onInput={(event) => (search.value = event.currentTarget.value)}
                />
              </div>
              <List
                modules={modules.filter(({ attributes: { name, provider } }) =>
                  `${name} ${provider}`.toLowerCase().includes(search.value.trim().toLowerCase()),
                )}
                organization={organization}
              />
            </>
          )
        }
      </Loaded>
      {adding.value && <NewModule organization={organization} onClose={() => (adding.value = false)} />}
    </OrganizationShell>
  );
};

const List = ({ modules, organization }: { modules: Resource<'registry-modules'>[]; organization: string }) =>
  modules.length === 0 ? (
    <p class="soft">No modules match the search.</p>
  ) : (
    <ul class="panel list" aria-label="Modules">
      {modules.map((module) => (
        <Line key={module.id} module={module} organization={organization} />
      ))}
    </ul>
  );

const Line = ({ module, organization }: { module: Resource<'registry-modules'>; organization: string }) => {
  const { attributes } = module;
  const versions = usableVersions(module);
  const isPublic = attributes['registry-name'] === 'public';
  return (
    <li>
      <a class="item" href={hrefOf({ ...addressOf(module, organization), view: 'module', tab: 'documentation' })}>
        <span class="row">
          <span class="title">{attributes.name}</span>
          {attributes['no-code'] && <span class="tag">no-code</span>}
          {isPublic && <span class="tag">public registry</span>}
        </span>
        <span class="meta">
          {attributes.provider}
          {attributes['vcs-repo'] && <> · published by tags of {attributes['vcs-repo'].identifier}</>}
        </span>
        <span class="end">
          <ModuleStatus module={module} />
          <span class="meta">
            {versions.length > 0 && <>{count(versions.length, 'version')} · </>}
            <Ago at={attributes['updated-at']} />
          </span>
        </span>
      </a>
    </li>
  );
};

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

const NewModule = ({ organization, onClose }: { organization: string; onClose(): void }) => {
  const source = useSignal<Picked | undefined>(undefined);
  const submit = async (data: FormData) => {
    const [name = '', provider = ''] = [textOf(data, 'name'), textOf(data, 'provider')];
    const place = { organization, registry: 'private', namespace: organization, name, provider };
    const files = source.value;
    if (!files) throw new Error('Choose the folder with the files of the module.');
    await create(`/organizations/${organization}/registry-modules`, 'registry-modules', {
      name,
      provider,
      'registry-name': 'private',
    });
    try {
      await uploadModule(apiPath(place), textOf(data, 'version') ?? '', files);
    } catch (error) {
      // Do not leave an empty module behind when publishing fails.
      await call('DELETE', apiPath(place)).catch(() => {});
      throw error;
    }
    go({ view: 'module', ...place, tab: 'documentation' });
  };
  return (
    <Dialog title="Publish a module" onClose={onClose}>
      <Form submit="Publish" onSubmit={submit} onCancel={onClose}>
        <Text label="Name" name="name" required autoFocus pattern="[A-Za-z0-9_\-]+" hint="For example vpc." />
        <Text
          label="Provider"
          name="provider"
          required
          pattern="[a-z0-9]+"
          hint="The provider that it mainly uses, for example aws."
        />
        <VersionFields source={source} value="1.0.0" />
      </Form>
    </Dialog>
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
