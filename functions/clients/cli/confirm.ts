import { CommandError, wrongUsage } from './exit.ts';
import { ask, isAttended } from './terminal.ts';

/**
 * Asks for the name of the resource before its deletion.
 * @throws {CommandError} for another answer, and without a terminal to ask on
 */
export const confirmByName = async (question: string, name: string): Promise<void> => {
  if (!isAttended()) throw wrongUsage('Deleting needs a confirmation. Give --yes.');
  const answer = await ask(`${question} Type its name to delete it\n> `);
  if (answer !== name) throw new CommandError('Not deleted: the name does not match.');
};
