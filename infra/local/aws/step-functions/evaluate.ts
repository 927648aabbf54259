/**
 * Paths, payload templates, intrinsic functions and choice rules, by aws-local-stepfunctions. It evaluates single
 * states without effects. Time, tasks, retries and concurrency are this service's own, because the library's runner of
 * whole machines has no task tokens, no context object of Map items, no waits over 24 days, and no restarts.
 */
import { StateMachine, type StateMachineDefinition } from 'aws-local-stepfunctions';
import { contextKey, type State } from './definition.ts';
import { Failure } from './failure.ts';

/** Place of an expression: errors name the state and the event that entered it, as on AWS. */
export interface Place {
  stateName: string;
  enteredId: number;
  /** The context object, `$$`. */
  context: object;
  now: number;
}

type Json = Parameters<StateMachine['run']>[0];
type Handlers = Record<string, (input: Json) => Json>;

const contextOf = ({ context }: Place) => ({ [contextKey]: context });

const run = async (definition: object, input: unknown, place: Place, handlers: Handlers = {}): Promise<unknown> => {
  const machine = new StateMachine(definition as StateMachineDefinition, { validationOptions: { noValidate: true } });
  try {
    return await machine.run(input as Json, {
      context: contextOf(place),
      overrides: { taskResourceLocalHandlers: handlers },
    }).result;
  } catch (error) {
    throw failureOf((error as Error).cause, place);
  }
};

/** Errors that a state may catch keep their names; any other error is States.Runtime, which no Catch matches. */
const failureOf = (error: unknown, place: Place): Failure => {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const where = `An error occurred while executing the state '${place.stateName}' (entered at the event id #${place.enteredId}).`;
  const catchable = name.startsWith('States.') && name !== 'States.Runtime';
  return new Failure(
    { error: catchable ? name : 'States.Runtime', cause: `${where} ${message}`, terminal: !catchable },
    place.now,
  );
};

/** A States.Runtime failure with a message of this service. */
export const runtimeFailure = (message: string, place: Place): Failure => failureOf(new Error(message), place);

const only = (state: object) => ({ StartAt: 'state', States: { state: { ...state, End: true } } });

const pick = (state: State, keys: readonly (keyof State)[]): Partial<State> =>
  Object.fromEntries(keys.filter((key) => state[key] !== undefined).map((key) => [key, state[key]]));

/** Almost all paths: names alone, in the input or the context object. */
const plainPath = /^\$\$?(?:\.[A-Za-z_]\w*)*$/;

/** The value at a plain path; undefined for another kind of path or a missing value. */
const follow = (path: unknown, input: unknown, context: object): unknown => {
  if (typeof path !== 'string' || !plainPath.test(path)) return undefined;
  let value: unknown = path.startsWith('$$') ? context : input;
  for (const name of path.split('.').slice(1)) {
    if (!isMap(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return typeof value === 'object' ? structuredClone(value) : value;
};

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Fills a payload template of constants and plain paths without the library, which takes a hundred times as long;
 * undefined for any other template and for an invalid one, for which the library has the message.
 */
const fillPlainly = (template: unknown, input: unknown, context: object): unknown => {
  if (!isMap(template)) return Array.isArray(template) ? undefined : template;
  const filled: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(template)) {
    const isPath = key.endsWith('.$');
    const value = isPath ? follow(part, input, context) : fillPlainly(part, input, context);
    if (value === undefined) return undefined;
    filled[isPath ? key.slice(0, -2) : key] = value;
  }
  return filled;
};

/** InputPath. */
export const selectInput = async (state: State, input: unknown, place: Place): Promise<unknown> =>
  state.InputPath === undefined ? input : run(only({ Type: 'Pass', InputPath: state.InputPath }), input, place);

/** InputPath and Parameters. */
export const effectiveInput = async (state: State, input: unknown, place: Place): Promise<unknown> => {
  if (!('InputPath' in state)) return 'Parameters' in state ? fillTemplate(state.Parameters, input, place) : input;
  return run(only({ Type: 'Pass', ...pick(state, ['InputPath', 'Parameters']) }), input, place);
};

/** A payload template other than the state's Parameters. */
export const fillTemplate = async (template: unknown, input: unknown, place: Place): Promise<unknown> =>
  fillPlainly(template, input, contextOf(place)) ?? run(only({ Type: 'Pass', Parameters: template }), input, place);

/** The value of a path or an intrinsic function. */
export const evaluate = async (expression: string, input: unknown, place: Place): Promise<unknown> =>
  ((await fillTemplate({ 'value.$': expression }, input, place)) as { value: unknown }).value;

/** ResultSelector, ResultPath and OutputPath. */
export const stateOutput = async (state: State, input: unknown, result: unknown, place: Place): Promise<unknown> => {
  const paths = pick(state, ['ResultSelector', 'ResultPath', 'OutputPath']);
  if (Object.keys(paths).length === 0) return result;
  const definition = only({ Type: 'Task', Resource: 'result', ...paths });
  return run(definition, input, place, { state: () => result as Json });
};

/** OutputPath alone, for states without a result. */
export const selectOutput = (state: State, output: unknown, place: Place): Promise<unknown> =>
  stateOutput(pick(state, ['OutputPath']) as State, output, output, place);

const choiceMachines = new WeakMap<State, { definition: object; handlers: Handlers }>();

/** Each possible successor of a Choice returns its own name, so that the engine reveals the matching rule. */
const choiceMachine = (state: State) => {
  let machine = choiceMachines.get(state);
  if (!machine) {
    const targets = [...(state.Choices ?? []).map(({ Next }) => Next), ...(state.Default ? [state.Default] : [])];
    const keyOf = (name: string) => `to ${name}`;
    const choice = {
      ...pick(state, ['Type', 'InputPath', 'OutputPath']),
      Choices: (state.Choices ?? []).map((rule) => ({ ...rule, Next: keyOf(rule.Next) })),
      ...(state.Default && { Default: keyOf(state.Default) }),
    };
    machine = {
      definition: {
        StartAt: 'choice',
        States: {
          choice,
          ...Object.fromEntries(targets.map((to) => [keyOf(to), { Type: 'Task', Resource: 'next', End: true }])),
        },
      },
      handlers: Object.fromEntries(targets.map((to) => [keyOf(to), (output: Json) => ({ next: to, output })])),
    };
    choiceMachines.set(state, machine);
  }
  return machine;
};

export const choose = async (
  state: State,
  input: unknown,
  place: Place,
): Promise<{ next: string; output: unknown }> => {
  const { definition, handlers } = choiceMachine(state);
  return (await run(definition, input, place, handlers)) as { next: string; output: unknown };
};
