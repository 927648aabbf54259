import { randomUUID } from 'node:crypto';

/** Bytes for names read from a folder, because foreign code can create names that are not UTF-8. */
export type Name = string | Buffer;

/** The methods of the door's folders (door.ts) that are used here. */
interface Folder {
  readonly path: string;
  entries(): { name: Name; isDirectory(): boolean }[];
  within(name: Name, work: (folder: Folder) => void): void;
  move(name: Name, to: Folder, as: Name): void;
  unlink(name: Name): boolean;
  removeEmpty(name: Name): boolean;
}

/** Maximum depth of nested folders: each open one needs a file descriptor. */
export const maxDepth = 100;

/** A leftover process may write while its folder is removed. */
const tries = 3;

/** Removes an entry of a folder with all its contents, at any depth, if it exists. */
export const removeTree = (top: Folder, name: Name): void => {
  const names = [name];
  // Folders that are too deep are moved up and removed later.
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
