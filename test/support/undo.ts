/**
 * Test files share a process, and each has its own modules. Changes that a module makes outside of itself, in a package
 * or in the process, have to be undone after the file, and its servers closed.
 */

const key = Symbol.for('stepform.tests.undo');
const holder = process as unknown as { [key]?: (() => unknown)[] };

/** Calls `undo` after the running test file. */
export const undoAfterFile = (undo: () => unknown): void => {
  holder[key] ??= [];
  holder[key].push(undo);
};

/** Closes what a test file started after the file. @returns the function that closes it earlier */
export const closeAfterFile = (close: () => Promise<void>): (() => Promise<void>) => {
  let closed: Promise<void> | undefined;
  const once = () => {
    closed ??= close();
    return closed;
  };
  undoAfterFile(once);
  return once;
};

/** Latest first. */
export const undoAll = async (): Promise<void> => {
  for (const undo of (holder[key] ?? []).reverse()) await undo();
  delete holder[key];
};
