import { useSignal } from '@preact/signals';
import type { Place } from '../../client/page-addresses.ts';
import { hrefOf } from '../location.ts';
import { errorText } from '../session.ts';
import { Notice } from './basics.tsx';

/** One of several things that something is attached to. */
export interface Item {
  id: string;
  name: string;
  to?: Place;
}

interface Props {
  items: Item[];
  /** What could be attached as well; those that are already may be among them. */
  others: Item[];
  may: boolean;
  /** When there is nothing; absent: nothing is said. */
  none?: string;
  /** What choosing one does, for the select: `Apply to a workspace`, and shorter `Apply to …`. */
  adding: string;
  prompt: string;
  /** What the button that takes one away does, said after its text. */
  removing(name: string): string;
  /** @throws what to tell the reader */
  onAdd(id: string): Promise<unknown>;
  onRemove(id: string): Promise<unknown>;
  /** Reload after either, even after a failure: another user may have been first. */
  onChange(): void;
}

/** A short list, to which more is added by choosing from all there is. */
export const Attached = ({ items, others, may, none, adding, prompt, removing, onAdd, onRemove, onChange }: Props) => {
  const error = useSignal<string | undefined>(undefined);
  const perform = async (work: Promise<unknown>) => {
    error.value = undefined;
    try {
      await work;
    } catch (caught) {
      error.value = errorText(caught);
    }
    onChange();
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
                <button
                  type="button"
                  class="small-button"
                  aria-label={`Remove: ${removing(name)}`}
                  onClick={() => perform(onRemove(id))}
                >
                  Remove
                </button>
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
            if (value) perform(onAdd(value));
          }}
        >
          <option value="">{prompt}</option>
          {free.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
      {error.value && <Notice kind="bad">{error.value}</Notice>}
    </>
  );
};
