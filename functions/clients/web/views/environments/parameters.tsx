import type { Parameter, Value } from '#clients/web/environments.ts';
import { Field, Select, Text } from '#clients/web/parts/fields.tsx';

/** Parameters of a template as fields of a form. */

const prefix = 'parameter ';

const boundsOf = ({ validation_min: min, validation_max: max, validation_monotonic: monotonic }: Parameter): string => {
  const range = [min === undefined ? '' : `at least ${min}`, max === undefined ? '' : `at most ${max}`];
  return [...range, monotonic && `only ${monotonic}`].filter(Boolean).join(', ');
};

const hintOf = (parameter: Parameter, isFixed: boolean): string =>
  [
    parameter.description,
    boundsOf(parameter),
    isFixed ? 'Cannot be changed after creation.' : '',
    parameter.ephemeral ? 'For this build only.' : '',
  ]
    .filter(Boolean)
    .join(' · ');

interface FieldsProps {
  parameters: Parameter[];
  /** Values of the latest build; undefined for a new environment. */
  values?: Value[];
}

export const ParameterFields = ({ parameters, values }: FieldsProps) => (
  <>
    {parameters.map((parameter) => {
      const before = parameter.ephemeral ? undefined : values?.find(({ name }) => name === parameter.name)?.value;
      const isFixed = before !== undefined && !parameter.mutable;
      const shared = {
        label: parameter.display_name || parameter.name,
        name: `${prefix}${parameter.name}`,
        hint: hintOf(parameter, isFixed),
        value: before ?? parameter.default_value,
      };
      if (isFixed) return <Fixed key={parameter.name} {...shared} />;
      const options = optionsOf(parameter);
      if (options) return <Select key={parameter.name} {...shared} options={options} />;
      if (parameter.type === 'number') {
        return <NumberField key={parameter.name} {...shared} {...limitsOf(parameter, before)} />;
      }
      return <Text key={parameter.name} {...shared} required={parameter.required} />;
    })}
  </>
);

const Fixed = ({ label, hint, value }: { label: string; hint: string; value: string }) => (
  <Field label={label} hint={hint}>
    {(attributes) => <input {...attributes} readOnly value={value} />}
  </Field>
);

/** Limits for the form. The form rejects values before a restart stops the environment. */
const limitsOf = (parameter: Parameter, before: string | undefined) => {
  const { validation_min: min, validation_max: max, validation_monotonic: monotonic } = parameter;
  const former = before === undefined || before === '' ? undefined : Number(before);
  return {
    required: parameter.required,
    min: monotonic === 'increasing' ? (former ?? min) : min,
    max: monotonic === 'decreasing' ? (former ?? max) : max,
  };
};

interface NumberProps extends ReturnType<typeof limitsOf> {
  label: string;
  name: string;
  hint: string;
  value: string;
}

const NumberField = ({ label, name, hint, value, ...limits }: NumberProps) => (
  <Field label={label} name={name} hint={hint}>
    {(attributes) => <input {...attributes} {...limits} type="number" name={name} step="1" defaultValue={value} />}
  </Field>
);

const optionsOf = ({ type, options }: Parameter): [string, string][] | undefined => {
  if (type === 'bool')
    return [
      ['true', 'yes'],
      ['false', 'no'],
    ];
  // A list may have several chosen options, written as JSON.
  if (options.length === 0 || type === 'list(string)') return undefined;
  return options.map(({ name, value }) => [value, name]);
};

export const valuesIn = (data: FormData): Value[] =>
  [...data].flatMap(([name, value]) =>
    name.startsWith(prefix) && typeof value === 'string' ? [{ name: name.slice(prefix.length), value }] : [],
  );
