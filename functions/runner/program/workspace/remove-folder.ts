import { rmdir } from 'node:fs/promises';
import { help } from '../terraform/launch.ts';

/**
 * Removes the folder of a run that has ended or was killed with all its contents, if it exists. Processes of a killed
 * run may still be running and replace a folder by a link: rm(1) works with open folders, but Node's `rm` works with
 * paths and, as root, could be led to other files. A separate process also does not block a program that serves other
 * requests.
 * @throws {Error}
 */
export const removeFolder = async (path: string): Promise<void> => {
  // The folder is empty unless the runner was killed. Tried first, because starting a process blocks a large program
  // for 4 ms.
  if (!(await removeEmpty(path))) await help('rm', ['-rf', '--', path]);
};

const removeEmpty = (path: string): Promise<boolean> =>
  rmdir(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
