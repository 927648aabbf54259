/** The part of Amazon States Language (JSONPath) that the local service runs. */
export interface Retrier {
  ErrorEquals: string[];
  IntervalSeconds?: number;
  MaxAttempts?: number;
  BackoffRate?: number;
  MaxDelaySeconds?: number;
  JitterStrategy?: 'NONE' | 'FULL';
}
export interface Catcher {
  ErrorEquals: string[];
  ResultPath?: string | null;
  Next: string;
}
const stateTypes = ['Task', 'Pass', 'Wait', 'Choice', 'Succeed', 'Fail', 'Map', 'Parallel'] as const;
export type StateType = (typeof stateTypes)[number];

export interface State {
  Type: StateType;
  Next?: string;
  InputPath?: string | null;
  Parameters?: unknown;
  ResultSelector?: unknown;
  ResultPath?: string | null;
  OutputPath?: string | null;
  Retry?: Retrier[];
  Catch?: Catcher[];
  /** Task */
  Resource?: string;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  HeartbeatSeconds?: number;
  HeartbeatSecondsPath?: string;
  /** Pass */
  Result?: unknown;
  /** Wait */
  Seconds?: number;
  SecondsPath?: string;
  Timestamp?: string;
  TimestampPath?: string;
  /** Choice */
  Choices?: { Next: string }[];
  Default?: string;
  /** Fail */
  Error?: string;
  ErrorPath?: string;
  Cause?: string;
  CausePath?: string;
  /** Map and Parallel */
  ItemsPath?: string;
  ItemSelector?: unknown;
  MaxConcurrency?: number;
  MaxConcurrencyPath?: string;
  ItemProcessor?: Machine;
  Branches?: Machine[];
}

export interface Machine {
  StartAt: string;
  States: Record<string, State>;
  TimeoutSeconds?: number;
}

const invokeResource = 'arn:aws:states:::lambda:invoke';
export const tokenResource = `${invokeResource}.waitForTaskToken`;

/** The expression engine fills `Execution` of its context object itself, so ours is one level deeper. */
export const contextKey = 'context';

/** A path or intrinsic function whose `$$` refers to our context object; quoted text stays unchanged. */
const repoint = (expression: string): string =>
  expression.replace(/'(?:\\.|[^'\\])*'|\$\$/g, (found) => (found === '$$' ? `$$.${contextKey}` : found));

const mapValues = (object: object, change: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

const templates = new Set(['Parameters', 'ItemSelector', 'ResultSelector']);

/** The definition in the form that the expression engine needs. The Result of a Pass is data and stays unchanged. */
const prepare = (node: unknown, inTemplate = false): unknown => {
  if (Array.isArray(node)) return node.map((item) => prepare(item, inTemplate));
  if (node === null || typeof node !== 'object') return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      if (!inTemplate && key === 'Result') return [key, value];
      // A state's name may be any word, including one with another meaning elsewhere.
      if (!inTemplate && key === 'States') return [key, mapValues(value as object, (state) => prepare(state))];
      const expression =
        key.endsWith('.$') || (!inTemplate && (key === 'Variable' || (key.endsWith('Path') && key !== 'ResultPath')));
      if (expression && typeof value === 'string') return [key, repoint(value)];
      return [key, prepare(value, inTemplate || templates.has(key))];
    }),
  );
};

/** `$` is the default of these three; the engine would treat it as a name in ResultPath. */
const wholePaths = ['InputPath', 'OutputPath', 'ResultPath'] as const;

const checkState = (name: string, state: State): void => {
  const refuse = (what: string): never => {
    throw new Error(`State ${name}: ${what} is not supported by the local Step Functions service`);
  };
  if (!stateTypes.includes(state.Type)) refuse(`Type ${state.Type}`);
  if ('QueryLanguage' in state && state.QueryLanguage !== 'JSONPath') refuse('QueryLanguage JSONata');
  if ('Assign' in state) refuse('Assign');
  if (state.Type === 'Task' && state.Resource !== invokeResource && state.Resource !== tokenResource) {
    refuse(`Resource ${state.Resource}`);
  }
  if (state.Type === 'Map') {
    const legacy = (state as { Iterator?: Machine }).Iterator;
    state.ItemProcessor ??= legacy;
    state.ItemSelector ??= state.Parameters;
    delete state.Parameters;
    if (!state.ItemProcessor) refuse('a Map without ItemProcessor');
    const config = (state.ItemProcessor as { ProcessorConfig?: { Mode?: string } }).ProcessorConfig;
    if (config?.Mode === 'DISTRIBUTED') refuse('a Map of mode DISTRIBUTED');
  }
  for (const path of wholePaths) if (state[path] === '$') delete state[path];
  for (const catcher of state.Catch ?? []) if (catcher.ResultPath === '$') delete catcher.ResultPath;
};

const checkMachine = (machine: Machine): void => {
  const known = (name: string | undefined, from: string) => {
    if (name !== undefined && !Object.hasOwn(machine.States, name))
      throw new Error(`${from} leads to ${name}, which is no state`);
  };
  known(machine.StartAt, 'StartAt');
  for (const [name, state] of Object.entries(machine.States)) {
    checkState(name, state);
    for (const { Next } of [state, ...(state.Choices ?? []), ...(state.Catch ?? [])]) known(Next, `State ${name}`);
    known(state.Default, `State ${name}`);
    for (const inner of [state.ItemProcessor, ...(state.Branches ?? [])]) if (inner) checkMachine(inner);
  }
};

/**
 * Prepares a definition for running; the given object is not changed.
 * @throws Error that names a state without an existing successor, or with a feature that this service lacks
 */
export const prepareDefinition = (definition: object): Machine => {
  if ('QueryLanguage' in definition && definition.QueryLanguage !== 'JSONPath') {
    throw new Error('QueryLanguage JSONata is not supported by the local Step Functions service');
  }
  const machine = prepare(definition) as Machine;
  checkMachine(machine);
  return machine;
};
