import { CoderError } from '../host/errors.ts';
import type { ParameterError, Value } from './parameters.ts';

/** @throws {CoderError} 400 for an invalid value */
export const resolved = (resolve: () => Value[]): Value[] => {
  try {
    return resolve();
  } catch (error) {
    const { parameter, message } = error as ParameterError;
    throw new CoderError(400, `Unable to validate parameter "${parameter}"`, message);
  }
};
