import { useSignal } from '@preact/signals';
import type { Environment, Parameter, Preset, Template } from '#clients/web/environments.ts';
import { go } from '#clients/web/location.ts';
import type { OrganizationProps } from '#clients/web/organization.ts';
import { FormDialog } from '#clients/web/parts/dialog.tsx';
import { Select, Text, textOf } from '#clients/web/parts/fields.tsx';
import { callEnvironments } from '#clients/web/session.ts';
import { ParameterFields, valuesIn } from './parameters.tsx';

interface Props extends OrganizationProps {
  template: Template;
  parameters: Parameter[];
  presets: Preset[];
  /** The chosen one's id; absent: the default. */
  preset?: string;
  onClose(): void;
}

/** Creates an environment owned by the user. */
export const NewEnvironment = ({ organization, template, parameters, presets, preset: first, onClose }: Props) => {
  const preset = useSignal(first ?? presets.find(({ Default }) => Default)?.ID ?? '');
  const chosen = presets.find(({ ID }) => ID === preset.value);
  const values = chosen?.Parameters.map(({ Name, Value }) => ({ name: Name, value: Value }));
  const open = parameters.filter(({ name }) => !values?.some((value) => value.name === name));
  const submit = async (data: FormData) => {
    const created = await callEnvironments<Environment>('POST', '/users/me/workspaces', {
      template_id: template.id,
      name: textOf(data, 'name'),
      rich_parameter_values: valuesIn(data),
      ...(chosen ? { template_version_preset_id: chosen.ID } : {}),
    });
    go({ view: 'environment', organization, id: created.id });
  };
  return (
    <FormDialog
      title={`New environment of ${template.display_name || template.name}`}
      submit="Create environment"
      onSubmit={submit}
      onClose={onClose}
    >
      <Text label="Name" name="name" required autoFocus hint="Letters, digits and hyphens; at most 32." />
      {presets.length > 0 && (
        <Select
          label="Preset"
          name="preset"
          chosen={preset}
          options={[['', 'none'], ...presets.map(({ ID, Name }): [string, string] => [ID, Name])]}
          hint={values?.map(({ name, value }) => `${name}=${value}`).join(', ')}
        />
      )}
      <ParameterFields parameters={open} />
    </FormDialog>
  );
};
