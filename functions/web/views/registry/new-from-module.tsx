import type { Resource } from '../../../client/client.ts';
import { useLive } from '../../live.ts';
import { go } from '../../location.ts';
import { organizationNow, useItems } from '../../organization.ts';
import { Loaded, Notice } from '../../parts/basics.tsx';
import { Choice, Field, Form, Select, Text, textOf } from '../../parts/form.tsx';
import { call, create, related } from '../../session.ts';
import { detailsOf, type ModuleAddress, readNoCode } from './module-api.ts';
import { pinOf } from './no-code.tsx';

/** A variable as the no-code module offers it (HCP API: module variables). */
interface Offered {
  name: string;
  type: string;
  description: string;
  required: boolean;
  sensitive: boolean;
  options: string[];
  /** A variable set gives it to every workspace. */
  'has-global': boolean;
  /** HCL, as the module declares it; empty when there is none. */
  default: string;
}

interface ViewData {
  id: string;
  version: string;
  variables: Offered[];
}

const load = async (module: Resource<'registry-modules'>, address: ModuleAddress): Promise<ViewData> => {
  const id = related(module, 'no-code-modules') ?? '';
  const noCode = await readNoCode(id);
  const details = await detailsOf(address, pinOf(noCode));
  if (!details) throw new Error('The module has no published version.');
  const { version, root } = details;
  const { data } = await call<{ attributes: Offered }[]>(
    'GET',
    `/no-code-modules/${id}/versions/${encodeURIComponent(version)}/module-variables`,
  );
  const defaults = new Map(root.inputs.map((input) => [input.name, input.default]));
  const variables = data.map(({ attributes }) => ({ ...attributes, default: defaults.get(attributes.name) ?? '' }));
  return { id, version, variables: variables.sort((a, b) => Number(b.required) - Number(a.required)) };
};

interface Props {
  module: Resource<'registry-modules'>;
  address: ModuleAddress;
}

/** A workspace from a module: its name, and values for the module's variables. */
export const NewFromModule = (props: Props) =>
  props.module.attributes['no-code'] ? (
    <Offer {...props} />
  ) : (
    <Notice kind="warn">
      This module is not offered for workspaces. Teams that publish modules enable it under No-code.
    </Notice>
  );

const Offer = ({ module, address }: Props) => {
  const live = useLive(
    `new workspace ${module.id}`,
    () => load(module, address),
    () => undefined,
  );
  return (
    <Loaded live={live} what="variables">
      {(offer) => <Fields {...offer} module={module} organization={address.organization} />}
    </Loaded>
  );
};

const prefix = 'variable ';
const scalar = ['string', 'number', 'bool', 'any'];

const Fields = ({
  id,
  version,
  variables,
  module,
  organization,
}: ViewData & { module: Resource<'registry-modules'>; organization: string }) => {
  const projects = useItems(organization, 'projects', true);
  const submit = async (data: FormData) => {
    const project = textOf(data, 'project');
    const workspace = await create(
      `/no-code-modules/${id}/workspaces`,
      'workspaces',
      {
        name: textOf(data, 'name'),
        description: textOf(data, 'description') ?? null,
        'auto-apply': data.has('auto-apply'),
      },
      {
        ...(project ? { project: { data: { type: 'projects', id: project } } } : {}),
        vars: { data: valuesIn(data, variables) },
      },
    );
    go({ view: 'workspace', organization, workspace: workspace.attributes.name, tab: 'overview' });
  };
  return (
    <section class="panel pad stack narrow" aria-label="New workspace">
      <h2>
        New workspace from {module.attributes.name} {version}
      </h2>
      <Form submit="Create workspace" onSubmit={submit}>
        <Text
          label="Name"
          name="name"
          required
          autoFocus
          pattern="[A-Za-z0-9_\-]+"
          hint="Letters, digits, - and _. For example network-eu-production."
        />
        <Text label="Description" name="description" />
        {projects.length > 1 && (
          <Select
            label="Project"
            name="project"
            options={projects.map((one) => [one.id, one.name])}
            value={related(organizationNow(organization), 'default-project')}
          />
        )}
        {variables.length > 0 && (
          <fieldset>
            <legend>Variables</legend>
            {variables.map((one) => (
              <VariableField key={one.name} offered={one} />
            ))}
          </fieldset>
        )}
        <Choice
          label="Apply without confirmation"
          name="auto-apply"
          hint="Plans with changes are applied immediately."
        />
      </Form>
    </section>
  );
};

const hintOf = ({ description, type, required, 'has-global': isGlobal, default: value }: Offered): string =>
  [
    description,
    scalar.includes(type) ? '' : `HCL, ${type}`,
    !required && value && value !== 'null' && value !== '""' ? `Default: ${value}` : '',
    isGlobal ? 'A variable set gives a value to all workspaces; a value here replaces it.' : '',
  ]
    .filter(Boolean)
    .join(' · ');

const VariableField = ({ offered }: { offered: Offered }) => {
  const { name, type, sensitive, options, default: value } = offered;
  const required = offered.required && !offered['has-global'];
  const shared = { label: required ? `${name} (required)` : name, name: `${prefix}${name}`, hint: hintOf(offered) };
  const choices = options.length > 0 ? options : type === 'bool' ? ['true', 'false'] : undefined;
  if (choices) {
    return <Select {...shared} options={required ? choices : [['', value ? 'Default' : 'Not set'], ...choices]} />;
  }
  if (type === 'number') {
    return (
      <Field {...shared}>
        {(attributes) => <input {...attributes} type="number" step="any" name={shared.name} required={required} />}
      </Field>
    );
  }
  if (sensitive) return <Text {...shared} type="password" autoComplete="new-password" required={required} />;
  return <Text {...shared} lines={scalar.includes(type) ? undefined : 3} required={required} />;
};

/** What is left empty keeps the module's default. */
const valuesIn = (data: FormData, variables: Offered[]) =>
  variables.flatMap(({ name, type, sensitive }) => {
    const value = textOf(data, `${prefix}${name}`);
    if (value === undefined) return [];
    const hcl = !scalar.includes(type);
    return [{ type: 'vars', attributes: { key: name, value, category: 'terraform', hcl, sensitive } }];
  });
