import type { Resource } from '#clients/client/client.ts';
import { Field, Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { call, related } from '#clients/web/session.ts';
import { detailsOf, type ModuleAddress, readNoCode } from './module-api.ts';
import { pinOf } from './no-code.tsx';

/** Form fields for a module's variables. */

/** A variable of a no-code module (HCP API: module variables). */
interface Offered {
  name: string;
  type: string;
  description: string;
  required: boolean;
  sensitive: boolean;
  options: string[];
  /** A variable set gives all workspaces a value. */
  'has-global': boolean;
  /** Default in HCL; empty without one. */
  default: string;
}

export interface Offer {
  /** Id of the no-code module. */
  id: string;
  version: string;
  variables: Offered[];
}

/** The version for new workspaces. @throws {Error} without a published version */
export const readOffer = async (module: Resource<'registry-modules'>, address: ModuleAddress): Promise<Offer> => {
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

const prefix = 'variable ';
const scalar = ['string', 'number', 'bool', 'any'];

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

export const VariableFields = ({ legend, variables }: { legend: string; variables: Offered[] }) =>
  variables.length > 0 && (
    <fieldset>
      <legend>{legend}</legend>
      {variables.map((variable) => (
        <VariableField key={variable.name} offered={variable} />
      ))}
    </fieldset>
  );

/** Empty fields keep the module's default. */
export const valuesIn = (data: FormData, variables: Offered[]) =>
  variables.flatMap(({ name, type, sensitive }) => {
    const value = textOf(data, `${prefix}${name}`);
    if (value === undefined) return [];
    const hcl = !scalar.includes(type);
    return [{ type: 'vars', attributes: { key: name, value, category: 'terraform', hcl, sensitive } }];
  });
