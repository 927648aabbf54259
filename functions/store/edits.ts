import { randomUUID } from 'node:crypto';
import type { Change } from './table.ts';
import { now } from './time.ts';

/** Settings that people change: who did last, and how often, so that nobody undoes what they have not seen. */
export interface Edited {
  /** How often its settings were changed; absent: never yet, as far as anybody knows. */
  edits?: number;
  /** The last edit: `id` tells it from another by the same person in the same millisecond. */
  edited?: { by: string; at: string; id?: string };
}

/** Somebody who changes settings. */
export interface Editor {
  userId: string;
  /** How often they had been changed when the editor last looked; absent: whatever they are like meanwhile. */
  edits?: number;
}

/**
 * The change as an edit by somebody, which comes to nothing when it was not the next one after what they have seen.
 * Absent where the platform itself carries something over.
 */
export const asEdit = (change: Change, editor: Editor | undefined): Change => {
  if (!editor) return change;
  const { userId, edits } = editor;
  const edited = { by: userId, at: now(), id: randomUUID() };
  const edit = { ...change, set: { ...change.set, edited }, add: { ...change.add, edits: 1 } };
  if (edits === undefined) return edit;
  // A request that is sent again because its answer was lost has been the next edit itself.
  const isNext = edits ? 'edits = :edits' : 'attribute_not_exists(edits)';
  const isThis = 'edited.id = :edit';
  return {
    ...edit,
    condition: `${change.condition ? `${change.condition} AND ` : ''}(${isNext} OR ${isThis})`,
    values: { ...change.values, ':edit': edited.id, ...(edits ? { ':edits': edits } : {}) },
  };
};
