import { basename, dirname } from 'node:path';
import { type Expected, Folder } from './door.ts';

/** A file in a folder of foreign code, by a path whose folders above are the runner's. */
export const readForeign = (path: string, expected: Expected): Buffer =>
  Folder.at(dirname(path), (folder) => folder.read(basename(path), expected));

/** Removes a file or folder of foreign code, if it exists. The folders above are the runner's. */
export const removeForeign = (path: string): void =>
  Folder.at(dirname(path), (folder) => folder.remove(basename(path)));
