import type { Place } from '#clients/client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { call } from '../session.ts';
import { SmallButton, useAction } from './button.tsx';

/** An attached item, such as a workspace of a variable set. */
export interface Item {
  id: string;
  name: string;
  to?: Place;
}

interface Props {
  items: Item[];
  /** Items to choose from; may include attached ones. */
  others?: Item[];
  may: boolean;
  /** Text for an empty list; absent: none. */
  none?: string;
  /** Label of the select, and its first option: `Apply to a workspace`, `Apply to …`. */
  adding?: string;
  prompt?: string;
  /** `workspace` */
  noun?: string;
  /** @throws {Error} with a message for the user */
  onAdd?(id: string): Promise<unknown>;
  onRemove?(id: string): Promise<unknown>;
  /** Reloads after adding and removing, even after a failure: another user may have changed the list first. */
  onChange?(): void;
}

/** Adds to a relationship, and removes from it. @param path `/varsets/ID/relationships/workspaces` */
export const relating = (path: string, type = path.split('/').at(-1)) => ({
  onAdd: (id: string) => call('POST', path, { data: [{ type, id }] }),
  onRemove: (id: string) => call('DELETE', path, { data: [{ type, id }] }),
});

/** A short list with a select to add more. */
export const Attached = ({ items, others = [], may, none, adding, prompt, noun, ...props }: Props) => {
  const action = useAction();
  const perform = async (work: Promise<unknown> | undefined) => {
    await action.perform(async () => work);
    props.onChange?.();
  };
  const attachedIds = new Set(items.map(({ id }) => id));
  const free = others.filter(({ id }) => !attachedIds.has(id));
  return (
    <>
      {items.length === 0 && none && <p class="soft">{none}</p>}
      {items.length > 0 && (
        <ul class="stack tight">
          {items.map(({ id, name, to }) => (
            <li key={id} class="row spread">
              <span class="break">{to ? <a href={hrefOf(to)}>{name}</a> : name}</span>
              {may && (
                <SmallButton
                  text="Remove"
                  label={`Remove: ${noun} ${name}`}
                  onClick={() => perform(props.onRemove?.(id))}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      {may && free.length > 0 && (
        <select
          aria-label={adding}
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = '';
            if (value) perform(props.onAdd?.(value));
          }}
        >
          <option value="">{prompt ?? `${adding} …`}</option>
          {free.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {action.failure}
    </>
  );
};
