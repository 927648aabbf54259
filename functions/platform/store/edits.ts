import { randomUUID } from 'node:crypto';
import { both } from './expressions.ts';
import type { Key } from './keys.ts';
import { type Change, put } from './table.ts';
import { now } from './time.ts';

/** Edits of settings: the last editor and the number of edits, for optimistic locking. */
export interface Edited {
  /** Number of edits; absent: none recorded. */
  edits?: number;
  /** The last edit: `id` distinguishes it from another by the same user in the same millisecond. */
  edited?: { by: string; at: string; id?: string };
}

/** The user who edits, and the version that they read. */
export interface Editor {
  userId: string;
  /** Number of edits when the editor read the settings; absent: edit unconditionally. */
  edits?: number;
}

/**
 * A change as a conditional edit, which fails unless it is the first one after the version that the user read. Without
 * an editor, as for values that the platform copies, the edit is unconditional.
 */
export const asEdit = (change: Change, editor: Editor | undefined): Change => {
  if (!editor) return change;
  const { userId, edits } = editor;
  const edited = { by: userId, at: now(), id: randomUUID() };
  const edit = { ...change, set: { ...change.set, edited }, add: { ...change.add, edits: 1 } };
  if (edits === undefined) return edit;
  // A retried write whose response was lost has already made this edit.
  const isNext = edits ? 'edits = :edits' : 'attribute_not_exists(edits)';
  const either = `${isNext} OR edited.id = :edit`;
  return {
    ...edit,
    condition: change.condition ? both(change.condition, either) : either,
    values: { ...change.values, ':edit': edited.id, ...(edits ? { ':edits': edits } : {}) },
  };
};

/** A change that sets these attributes, and removes those that are undefined. */
export const setOrRemove = (values: Record<string, unknown>): Pick<Change, 'set' | 'remove'> => ({
  set: values,
  remove: Object.keys(values).filter((name) => values[name] === undefined),
});

/**
 * Replaces an item that counts its versions. False after a concurrent change.
 * @param item with the version that was read; 0 if there was none
 */
export const putNext = (key: Key, item: Record<string, unknown> & { version: number }): Promise<boolean> =>
  put(
    { ...key, ...item, version: item.version + 1 },
    item.version === 0
      ? { condition: 'attribute_not_exists(pk)' }
      : { condition: 'version = :version', values: { ':version': item.version } },
  );
