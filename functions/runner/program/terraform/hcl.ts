import { type File, NestingError, parseHcl } from '#platform/formats/hcl.ts';
import { PhaseError } from '../errors.ts';

/** @param name of the text, which begins a sentence @throws {PhaseError} when it nests too deep */
export const readHcl = (name: string, text: string): File => {
  try {
    return parseHcl(text);
  } catch (error) {
    if (error instanceof NestingError) throw new PhaseError(`${name} cannot be read: ${error.message}.`);
    throw error;
  }
};
