import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { bytes } from '#clients/client/text/time.ts';
import { errorText, get } from '../session.ts';
import { Copy, Value } from './basics.tsx';
import { SmallButton } from './button.tsx';
import { Table } from './list.tsx';

const textOfValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** State outputs; sensitive values, and those too large for the list, are loaded one by one on request. */
export const Outputs = ({ outputs }: { outputs: Resource<'state-version-outputs'>[] }) => (
  <div class="scrolls fits">
    <Table heads={['Name', 'Value', { hidden: 'Copy' }]}>
      {outputs.map((output) => (
        <Line key={output.id} output={output} />
      ))}
    </Table>
  </div>
);

const Line = ({ output: { id, attributes } }: { output: Resource<'state-version-outputs'> }) => {
  const secret = useSignal<unknown>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const omitted = attributes['omitted-bytes'];
  const isKept = attributes.sensitive || omitted !== undefined;
  const hidden = isKept && secret.value === undefined;
  const reveal = async () => {
    try {
      secret.value = (await get<'state-version-outputs'>(`/state-version-outputs/${id}`)).attributes.value;
    } catch (caught) {
      error.value = errorText(caught);
    }
  };
  const text = textOfValue(isKept ? secret.value : attributes.value);
  return (
    <tr>
      <th scope="row" class="mono break">
        {attributes.name}
      </th>
      <td class="break">
        {hidden ? (
          <span class="soft">{omitted === undefined ? 'sensitive' : bytes(omitted)}</span>
        ) : (
          <Value text={text} />
        )}
        {error.value && <span role="alert">{error.value}</span>}
      </td>
      <td>{hidden ? <SmallButton text="Show" of={attributes.name} onClick={reveal} /> : <Copy text={text} />}</td>
    </tr>
  );
};
