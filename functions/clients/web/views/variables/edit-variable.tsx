import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { EditDialog } from '#clients/web/parts/dialog.tsx';
import { Choice, type Option, Radios, Text } from '#clients/web/parts/fields.tsx';

const kinds: Option[] = [
  ['terraform', 'Terraform variable', 'Declared with a variable block.'],
  ['env', 'Environment variable', 'Read by providers or Terraform itself, for example AWS_REGION.'],
];

interface EditProps {
  path: string;
  variable?: Resource<'vars'>;
  /** Fixed category; parameters of a policy set have no description. */
  only?: 'policy-set' | 'env';
  onClose(): void;
}

/** Entries of a list carry no ETag; this computes the variable's. */
const tagged = (variable: Resource<'vars'>) => ({ ...variable, etag: `"${variable.attributes['version-id']}"` });

/** Form for a new or an existing variable. */
export const EditVariable = ({ path, variable, only, onClose }: EditProps) => {
  const category = useSignal<string>(variable?.attributes.category ?? only ?? 'terraform');
  const noun = only === 'policy-set' ? 'parameter' : 'variable';
  return (
    <EditDialog
      title={variable ? `Change ${variable.attributes.key}` : `Add a ${noun}`}
      submit={variable ? 'Save' : `Add ${noun}`}
      type="vars"
      resource={variable && tagged(variable)}
      collection={path}
      path={`${path}/${variable?.id}`}
      attributesOf={({ value, ...fields }, data, current) => ({
        ...(noun === 'variable' ? { hcl: false } : {}),
        ...fields,
        category: category.value,
        // An empty field keeps a sensitive value, which is write-only.
        ...(current?.attributes.sensitive && value === null ? {} : { value: data.get('value') }),
      })}
      onClose={onClose}
    >
      {(current) => (
        <>
          {!only && (
            <Radios
              legend="Kind"
              name="category"
              options={kinds}
              chosen={category}
              disabled={current?.attributes.sensitive}
            />
          )}
          <Text label="Name" name="key" required autoFocus={!variable} readOnly={current?.attributes.sensitive} />
          <Text
            label="Value"
            name="value"
            lines={3}
            autoFocus={!!variable}
            hint={current?.attributes.sensitive ? 'Write-only. Leave empty to keep the current value.' : undefined}
          />
          {category.value === 'terraform' && (
            <Choice name="hcl" label="HCL" hint="Parse the value as an HCL expression: a list, a map, a number." />
          )}
          {!current?.attributes.sensitive && (
            <Choice
              name="sensitive"
              label="Sensitive"
              hint="Encrypted, write-only and masked in logs. Cannot be undone."
            />
          )}
          {noun === 'variable' && <Text label="Description" name="description" />}
        </>
      )}
    </EditDialog>
  );
};
