import { randomUUID } from 'node:crypto';

/** As bytes where they come from a folder: foreign code also makes names that are no UTF-8. */
export type Name = string | Buffer;

/** What of a folder of the door (door.ts) is needed here. */
interface Folder {
  readonly path: string;
  entries(): { name: Name; isDirectory(): boolean }[];
  within(name: Name, work: (folder: Folder) => void): void;
  move(name: Name, to: Folder, as: Name): void;
  unlink(name: Name): boolean;
  removeEmpty(name: Name): boolean;
}

/** Folders in folders; more would use up file descriptors. */
export const maxDepth = 100;

/** A process that was left behind may write while its folder is removed. */
const tries = 3;

/** Removes an entry of a folder with all that is below it, however deep, if it exists. */
export const removeTree = (top: Folder, name: Name): void => {
  const names = [name];
  // What is too deep is moved up, and removed afterwards.
  const defer = (folder: Folder, entry: Name): void => {
    const moved = `.removed-${randomUUID()}`;
    folder.move(entry, top, moved);
    names.push(moved);
  };
  for (let next = names.shift(); next !== undefined; next = names.shift()) removeEntry(top, next, defer);
};

const removeEntry = (above: Folder, name: Name, defer: (folder: Folder, entry: Name) => void, depth = 0): void => {
  if (above.unlink(name)) return;
  for (let n = 0; n < tries; n++) {
    above.within(name, (folder) => {
      for (const entry of folder.entries()) {
        if (depth === maxDepth && entry.isDirectory()) defer(folder, entry.name);
        else removeEntry(folder, entry.name, defer, depth + 1);
      }
    });
    if (above.removeEmpty(name)) return;
  }
  throw new Error(`${above.path}/${name} is being written to, and could not be removed`);
};
