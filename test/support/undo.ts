/**
 * Test files share a process, and each has its own modules. Changes that a module makes outside of itself, in a package
 * or in the process, have to be undone after the file.
 */

const key = Symbol.for('stepform.tests.undo');
const holder = process as unknown as { [key]?: (() => void)[] };

/** Calls `undo` after the running test file. */
export const undoAfterFile = (undo: () => void): void => {
  holder[key] ??= [];
  holder[key].push(undo);
};

/** Latest first. */
export const undoAll = (): void => {
  for (const undo of (holder[key] ?? []).reverse()) undo();
  delete holder[key];
};
