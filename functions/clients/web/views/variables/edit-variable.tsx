import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Confirm, Dialog } from '#clients/web/parts/dialog.tsx';
import { Choice, Choices, Form, type Option, Text, textOf } from '#clients/web/parts/form.tsx';
import { call, change, create, get } from '#clients/web/session.ts';

const kinds: Option[] = [
  ['terraform', 'Terraform variable', 'Declared with a variable block.'],
  ['env', 'Environment variable', 'Read by providers or Terraform itself, for example AWS_REGION.'],
];

interface EditProps {
  path: string;
  variable: Resource<'vars'> | undefined;
  /** Fixed category; parameters of a policy set have no description. */
  only?: 'policy-set' | 'env';
  onClose(): void;
}

/** Form for a new or an existing variable. */
export const EditVariable = ({ path, variable, only, onClose }: EditProps) => {
  const parameter = only === 'policy-set';
  const basis = useSignal(variable);
  const current = basis.value?.attributes;
  const category = useSignal<string>(current?.category ?? only ?? 'terraform');
  const noun = parameter ? 'parameter' : 'variable';
  const submit = async (data: FormData) => {
    const value = data.get('value');
    const attributes = {
      key: textOf(data, 'key'),
      category: category.value,
      ...(parameter
        ? {}
        : {
            description: textOf(data, 'description') ?? null,
            hcl: category.value === 'terraform' && data.has('hcl'),
          }),
      sensitive: current?.sensitive || data.has('sensitive'),
      // An empty field keeps a sensitive value, which is write-only.
      ...(current?.sensitive && value === '' ? {} : { value }),
    };
    // Entries of a list carry no ETag; this computes the variable's.
    const etag = `"${current?.['version-id']}"`;
    await (variable
      ? change(`${path}/${variable.id}`, 'vars', attributes, { basis: { etag } })
      : create(path, 'vars', attributes));
    onClose();
  };
  return (
    <Dialog title={variable ? `Change ${current?.key}` : `Add a ${noun}`} onClose={onClose}>
      <Form
        key={current?.['version-id']}
        submit={variable ? 'Save' : `Add ${noun}`}
        onSubmit={submit}
        onCancel={onClose}
        onReload={async () => {
          basis.value = await get(`${path}/${variable?.id}`);
          category.value = basis.value.attributes.category;
        }}
      >
        {!only && (
          <Choices
            legend="Kind"
            type="radio"
            name="category"
            options={kinds}
            chosen={[category.value]}
            disabled={current?.sensitive}
            onChange={(value) => (category.value = value)}
          />
        )}
        <Text
          label="Name"
          name="key"
          required
          autoFocus={!variable}
          value={current?.key}
          readOnly={current?.sensitive}
        />
        <Text
          label="Value"
          name="value"
          lines={3}
          autoFocus={!!variable}
          value={current?.value ?? ''}
          hint={current?.sensitive ? 'Write-only. Leave empty to keep the current value.' : undefined}
        />
        {category.value === 'terraform' && (
          <Choice
            name="hcl"
            label="HCL"
            hint="Parse the value as an HCL expression: a list, a map, a number."
            checked={current?.hcl}
          />
        )}
        {!current?.sensitive && (
          <Choice
            name="sensitive"
            label="Sensitive"
            hint="Encrypted, write-only and masked in logs. Cannot be undone."
          />
        )}
        {!parameter && <Text label="Description" name="description" value={current?.description ?? ''} />}
      </Form>
    </Dialog>
  );
};

export const DeleteVariable = ({
  path,
  variable,
  onClose,
}: {
  path: string;
  variable: Resource<'vars'>;
  onClose(): void;
}) => (
  <Confirm
    title={`Delete ${variable.attributes.key}?`}
    yes="Delete variable"
    onYes={() => call('DELETE', `${path}/${variable.id}`)}
    onClose={onClose}
  >
    <p>Queued runs keep its value. New runs do not use it.</p>
  </Confirm>
);
