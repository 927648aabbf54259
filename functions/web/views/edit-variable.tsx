import { useSignal } from '@preact/signals';
import type { Resource } from '../../cli/client.ts';
import { Choice, Dialog, Form, Text, textOf } from '../parts/form.tsx';
import { call, change, create } from '../session.ts';

/** A new variable, or another value for one. */
export const EditVariable = ({
  path,
  variable,
  onClose,
}: {
  path: string;
  variable: Resource | undefined;
  onClose(): void;
}) => {
  const known = variable?.attributes;
  const category = useSignal<string>(known?.category ?? 'terraform');
  const submit = async (data: FormData) => {
    const value = data.get('value');
    const attributes = {
      key: textOf(data, 'key'),
      description: textOf(data, 'description') ?? null,
      category: category.value,
      hcl: category.value === 'terraform' && data.has('hcl'),
      sensitive: known?.sensitive || data.has('sensitive'),
      // An empty field leaves a sensitive value as it is: the page never had it.
      ...(known?.sensitive && value === '' ? {} : { value }),
    };
    await (variable ? change(`${path}/${variable.id}`, 'vars', attributes) : create(path, 'vars', attributes));
    onClose();
  };
  return (
    <Dialog title={variable ? `Change ${known?.key}` : 'Add a variable'} onClose={onClose}>
      <Form submit={variable ? 'Save' : 'Add variable'} onSubmit={submit} onCancel={onClose}>
        <fieldset>
          <legend>Kind</legend>
          {[
            ['terraform', 'Terraform variable', 'Declared with a variable block.'],
            ['env', 'Environment variable', 'For providers and Terraform itself, e.g. AWS_REGION.'],
          ].map(([value, label, hint]) => (
            <Choice
              key={value}
              type="radio"
              name="category"
              value={value}
              label={label ?? ''}
              hint={hint}
              checked={category.value === value}
              disabled={known?.sensitive}
              onChange={() => {
                category.value = value ?? '';
              }}
            />
          ))}
        </fieldset>
        <Text label="Name" name="key" required autoFocus={!variable} value={known?.key} readOnly={known?.sensitive} />
        <Text
          label="Value"
          name="value"
          lines={3}
          autoFocus={!!variable}
          value={known?.value ?? ''}
          hint={known?.sensitive ? 'Nobody can see it any more. Leave this empty to keep it.' : undefined}
        />
        {category.value === 'terraform' && (
          <Choice
            name="hcl"
            label="HCL"
            hint="The value is an expression: a list, a map, a number."
            checked={known?.hcl}
          />
        )}
        {!known?.sensitive && (
          <Choice name="sensitive" label="Sensitive" hint="Encrypted, write-only, and hidden in every log. For good." />
        )}
        <Text label="Description" name="description" value={known?.description ?? ''} />
      </Form>
    </Dialog>
  );
};

export const DeleteVariable = ({ path, variable, onClose }: { path: string; variable: Resource; onClose(): void }) => (
  <Dialog title={`Delete ${variable.attributes.key}?`} onClose={onClose}>
    <Form
      submit="Delete variable"
      danger
      onCancel={onClose}
      onSubmit={async () => {
        await call('DELETE', `${path}/${variable.id}`);
        onClose();
      }}
    >
      <p>Runs that are queued from now on will not have it.</p>
    </Form>
  </Dialog>
);
