import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { useLive } from '#clients/web/live.ts';
import { may } from '#clients/web/organization.ts';
import { Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { Choice, Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { call, change, create, related } from '#clients/web/session.ts';
import { linesOf } from '#clients/web/text/lists.ts';
import type { Input } from '#resources/registry/modules/content.ts';
import { type Details, detailsOf, type ModuleAddress, type NoCode, readNoCode, usableVersions } from './module-api.ts';

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
  onChange(): void;
}

interface ViewData {
  noCode: NoCode | undefined;
  /** Variables of the version for new workspaces. */
  details: Details | undefined;
}

const load = async (module: Resource<'registry-modules'>, address: ModuleAddress): Promise<ViewData> => {
  const id = related(module, 'no-code-modules');
  const noCode = id === undefined ? undefined : await readNoCode(id);
  return { noCode, details: await detailsOf(address, pinOf(noCode)) };
};

/** Version for new workspaces; empty: the newest. */
export const pinOf = (noCode: NoCode | undefined): string => {
  const pin = noCode?.module.attributes['version-pin'];
  return pin && pin !== 'latest' ? pin : '';
};

/** No-code settings of a module: whether it is offered, its version, and allowed values. */
export const NoCodeSettings = ({ module, address, onChange }: Props) => {
  const versions = usableVersions(module);
  const live = useLive(`no-code ${module.id} ${versions.length}`, () => load(module, address));
  if (versions.length === 0) return <p class="panel pad soft">Publish a version first.</p>;
  return (
    <Loaded live={live} what="settings">
      {(loaded) => (
        <Settings
          key={loaded.noCode?.module.attributes['updated-at'] ?? 'none'}
          {...loaded}
          module={module}
          address={address}
          onChange={() => {
            live.refresh();
            onChange();
          }}
        />
      )}
    </Loaded>
  );
};

const limitable = ['string', 'number', 'any'];

/** Includes variables with existing limits: saving must not remove those. */
const isLimitable = ({ name, type, sensitive }: Input, noCode: NoCode | undefined): boolean =>
  (limitable.includes(type) && !sensitive) ||
  noCode?.options.some(({ attributes }) => attributes['variable-name'] === name) === true;

const prefix = 'options ';

const Settings = ({ noCode, details, module, address, onChange }: Props & ViewData) => {
  const saved = useSignal(false);
  const inputs = (details?.root.inputs ?? []).filter((input) => isLimitable(input, noCode));
  const mayChange = may(address.organization, 'can-manage-no-code-modules');
  const submit = async (data: FormData) => {
    saved.value = false;
    const attributes = { enabled: data.has('enabled'), 'version-pin': textOf(data, 'version-pin') };
    const relationships = { 'variable-options': { data: optionsIn(data, inputs) } };
    if (noCode) await change(`/no-code-modules/${noCode.module.id}`, 'no-code-modules', attributes, { relationships });
    else {
      await create(`/organizations/${address.organization}/no-code-modules`, 'no-code-modules', attributes, {
        ...relationships,
        'registry-module': { data: { type: 'registry-modules', id: module.id } },
      });
    }
    saved.value = true;
    onChange();
  };
  return (
    <section class="panel pad stack narrow">
      <h2>No-code workspaces</h2>
      <p class="soft">
        People who can create workspaces make one from this module by filling in a form. Its first run starts at once.
      </p>
      <Form submit="Save" readOnly={!mayChange} onSubmit={submit}>
        <Choice
          name="enabled"
          label="Offer this module"
          hint="The module’s page gets a button “New workspace”."
          checked={noCode ? noCode.module.attributes.enabled : true}
        />
        <Select
          label="Version"
          name="version-pin"
          hint="Workspaces of another version are offered an upgrade."
          value={pinOf(noCode) || 'latest'}
          options={[['latest', 'Latest'], ...usableVersions(module).map((version) => [version, version] as const)]}
        />
        {inputs.length > 0 && <Options inputs={inputs} noCode={noCode} />}
        {saved.value && <Notice kind="good">Saved.</Notice>}
      </Form>
      {noCode && mayChange && <Remove id={noCode.module.id} onChange={onChange} />}
    </section>
  );
};

const Options = ({ inputs, noCode }: { inputs: Input[]; noCode: NoCode | undefined }) => (
  <fieldset>
    <legend>Allowed values</legend>
    <p class="soft small">One per line. An empty field allows any value.</p>
    {inputs.map(({ name, description }) => (
      <Text
        key={name}
        label={name}
        name={`${prefix}${name}`}
        lines={2}
        hint={description}
        value={noCode?.options
          .find(({ attributes }) => attributes['variable-name'] === name)
          ?.attributes.options.join('\n')}
      />
    ))}
  </fieldset>
);

const optionsIn = (data: FormData, inputs: Input[]) =>
  inputs.flatMap(({ name, type }) => {
    const options = linesOf(textOf(data, `${prefix}${name}`));
    if (options.length === 0) return [];
    const attributes = { 'variable-name': name, 'variable-type': type === 'any' ? 'string' : type, options };
    return [{ type: 'variable-options', attributes }];
  });

const Remove = ({ id, onChange }: { id: string; onChange(): void }) => (
  <details>
    <summary>Remove these settings</summary>
    <Form
      submit="Remove"
      danger
      onSubmit={async () => {
        await call('DELETE', `/no-code-modules/${id}`);
        onChange();
      }}
    >
      <p class="soft">Existing workspaces are kept, but are no longer offered upgrades.</p>
    </Form>
  </details>
);
