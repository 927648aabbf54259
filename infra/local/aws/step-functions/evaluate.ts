import type { State } from './definition.ts';
import { ExpressionError, fill, nextOf, place as placeResult, select, valueAt } from './expressions.ts';
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

/** InputPath. */
export const selectInput = async (state: State, input: unknown, place: Place): Promise<unknown> =>
  within(place, () => select(state.InputPath, { input, context: place.context }));

/** InputPath and Parameters. */
export const effectiveInput = async (state: State, input: unknown, place: Place): Promise<unknown> => {
  const selected = await selectInput(state, input, place);
  return 'Parameters' in state ? fillTemplate(state.Parameters, selected, place) : selected;
};

/** A payload template other than the state's Parameters. */
export const fillTemplate = async (template: unknown, input: unknown, place: Place): Promise<unknown> =>
  within(place, () => fill(template, { input, context: place.context }));

/** The value of a path. */
export const evaluate = async (path: string, input: unknown, place: Place): Promise<unknown> =>
  within(place, () => valueAt(path, { input, context: place.context }));

/** ResultSelector, ResultPath and OutputPath. */
export const stateOutput = async (state: State, input: unknown, result: unknown, place: Place): Promise<unknown> =>
  within(place, () => {
    const { context } = place;
    const selected =
      state.ResultSelector === undefined ? result : fill(state.ResultSelector, { input: result, context });
    return select(state.OutputPath, { input: placeResult(input, state.ResultPath, selected), context });
  });

/** OutputPath alone, for states without a result. */
export const selectOutput = async (state: State, output: unknown, place: Place): Promise<unknown> =>
  within(place, () => select(state.OutputPath, { input: output, context: place.context }));

export const choose = async (
  state: State,
  input: unknown,
  place: Place,
): Promise<{ next: string; output: unknown }> => {
  const selected = await selectInput(state, input, place);
  const next = within(place, () => nextOf(state, { input: selected, context: place.context }));
  return { next, output: await selectOutput(state, selected, place) };
};
