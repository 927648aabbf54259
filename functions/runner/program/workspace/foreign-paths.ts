import { basename, dirname } from 'node:path';
import { type Expected, Folder } from './door.ts';

/** Reads a file in a folder that foreign code can write. The parents of that folder must be the runner's. */
export const readForeign = (path: string, expected: Expected): Buffer =>
  Folder.at(dirname(path), (folder) => folder.read(basename(path), expected));

/** Removes a file or folder that foreign code can write, if it exists. The parents must be the runner's. */
export const removeForeign = (path: string): void =>
  Folder.at(dirname(path), (folder) => folder.remove(basename(path)));
