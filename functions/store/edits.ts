import { randomUUID } from 'node:crypto';
import type { Change } from './table.ts';
import { now } from './time.ts';

/** Settings that people change: who did last, and how often, so that nobody undoes what they have not seen. */
export interface Edited {
  /** How often its settings were changed; absent: never yet, as far as anybody knows. */
  edits?: number;
  edited?: { by: string; at: string; id?: string };
}

/** Somebody who changes settings. */
export interface Editor {
  userId: string;
  /** How often they had been changed when the editor last looked; absent: whatever they are like meanwhile. */
  seen?: number;
}

/**
 * The change as an edit by somebody, which comes to nothing when it was not the next one after what they have seen.
 * Absent where the platform itself carries something over.
 */
export const asEdit = (change: Change, editor: Editor | undefined): Change => {
  if (!editor) return change;
  const { userId, seen } = editor;
  // Two requests of one user may fall into the same millisecond.
  const edited = { by: userId, at: now(), id: randomUUID() };
  const edit = { ...change, set: { ...change.set, edited }, add: { ...change.add, edits: 1 } };
  if (seen === undefined) return edit;
  // What is sent again, because nobody heard that it was done, has been the next one.
  const isNext = seen ? 'edits = :edits' : 'attribute_not_exists(edits)';
  const isThis = 'edited.id = :edit';
  return {
    ...edit,
    condition: `${change.condition ? `${change.condition} AND ` : ''}(${isNext} OR ${isThis})`,
    values: { ...change.values, ':edit': edited.id, ...(seen ? { ':edits': seen } : {}) },
  };
};
