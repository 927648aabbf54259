import { CoderError } from '../host/errors.ts';
import { ParameterError, type Value } from './parameters.ts';

/** @throws {CoderError} 400 for an invalid value */
export const resolved = (resolve: () => Value[]): Value[] => {
  try {
    return resolve();
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw new CoderError(400, `Unable to validate parameter "${error.parameter}"`, error.message);
  }
};
