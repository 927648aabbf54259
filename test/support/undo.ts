/**
 * Files of tests share a process, and each has modules of its own. What a module changes outside of itself, in a package
 * or in the process, is to be undone after the file.
 */

const key = Symbol.for('stepform.tests.undo');
const holder = process as unknown as { [key]?: (() => void)[] };

/** Calls `undo` after the file of tests that is running. */
export const undoAfterFile = (undo: () => void): void => {
  holder[key] ??= [];
  holder[key].push(undo);
};

/** Latest first. */
export const undoAll = (): void => {
  for (const undo of (holder[key] ?? []).reverse()) undo();
  delete holder[key];
};
