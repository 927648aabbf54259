import type { Resource } from '#clients/client/client.ts';

const kinds = [
  ['resource-imports', 'import', '↓', 'to import', 'imported'],
  ['resource-additions', 'add', '+', 'to add', 'added'],
  ['resource-changes', 'change', '~', 'to change', 'changed'],
  ['resource-destructions', 'destroy', '−', 'to destroy', 'destroyed'],
] as const;

/** `+ 4 to add ~ 0 to change − 0 to destroy`; nothing while unknown. */
export const Changes = ({ of: { type, attributes } }: { of: Resource<'plans'> | Resource<'applies'> }) => {
  if (attributes['resource-additions'] === null) return null;
  const done = type === 'applies';
  return (
    <span class="summary">
      {kinds.map(([key, tone, sign, will, did]) => {
        const n = attributes[key] ?? 0;
        if (n === 0 && tone === 'import') return null;
        return (
          <span key={key} class={n === 0 ? 'soft' : tone}>
            <strong>
              <span aria-hidden="true">{sign}</span> {n}
            </strong>{' '}
            {done ? did : will}
          </span>
        );
      })}
    </span>
  );
};
