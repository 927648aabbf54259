import { help } from '../terraform/launch.ts';

/**
 * Removes the folder of a run that was killed with all its contents, if it exists. Processes of the run may still be
 * running and replace a folder by a link: rm(1) works with open folders, but Node's `rm` works with paths and, as
 * root, could be led to other files. A separate process also does not block a program that serves other requests.
 * @throws {Error}
 */
export const removeFolder = async (path: string): Promise<void> => {
  await help('rm', ['-rf', '--', path]);
};
