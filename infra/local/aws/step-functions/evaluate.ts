import type { State } from './definition.ts';
import { ExpressionError, fill, nextOf, place as placeResult, valueAt } from './expressions.ts';
import { Failure } from './failure.ts';

/** Place of an expression: errors name the state and the event that entered it, as on AWS. */
export interface Place {
  stateName: string;
  enteredId: number;
  /** The context object, `$$`. */
  context: object;
  now: number;
}

/** Errors that a state may catch keep their names; any other error is States.Runtime, which no Catch matches. */
const failureOf = ({ name, message }: Error, place: Place): Failure => {
  const where = `An error occurred while executing the state '${place.stateName}' (entered at the event id #${place.enteredId}).`;
  const catchable = name.startsWith('States.') && name !== 'States.Runtime';
  return new Failure(
    { error: catchable ? name : 'States.Runtime', cause: `${where} ${message}`, terminal: !catchable },
    place.now,
  );
};

/** A States.Runtime failure with a message of this service. */
export const runtimeFailure = (message: string, place: Place): Failure => failureOf(new Error(message), place);

const within = <T>(place: Place, use: () => T): T => {
  try {
    return use();
  } catch (error) {
    throw error instanceof ExpressionError ? failureOf(error, place) : error;
  }
};

/** A payload template. */
export const fillTemplate = (template: unknown, input: unknown, place: Place): unknown =>
  within(place, () => fill(template, { input, context: place.context }));

/** Parameters. */
export const effectiveInput = (state: State, input: unknown, place: Place): unknown =>
  'Parameters' in state ? fillTemplate(state.Parameters, input, place) : input;

/** The value of a path. */
export const evaluate = (path: string, input: unknown, place: Place): unknown =>
  within(place, () => valueAt(path, { input, context: place.context }));

/** ResultSelector and ResultPath. */
export const stateOutput = (state: State, input: unknown, result: unknown, place: Place): unknown =>
  within(place, () => {
    const { context } = place;
    const selected =
      state.ResultSelector === undefined ? result : fill(state.ResultSelector, { input: result, context });
    return placeResult(input, state.ResultPath, selected);
  });

/** The state that a Choice leads to. */
export const choose = (state: State, input: unknown, place: Place): string =>
  within(place, () => nextOf(state, { input, context: place.context }));
