import { help } from '../terraform/launch.ts';

/**
 * Removes a folder of a run that was killed, with all that is below it, if it exists. What it started may still be there and put a link in
 * place of a folder: rm(1) goes from one open folder to the next, Node's `rm` by paths, which leads root to other files. A process of its
 * own also keeps a program that serves others from waiting.
 * @throws {Error}
 */
export const removeFolder = async (path: string): Promise<void> => {
  await help('rm', ['-rf', '--', path]);
};
