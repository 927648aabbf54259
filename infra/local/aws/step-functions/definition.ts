import { checkPath, checkReference, checkRule, checkTemplate, type Rule } from './expressions.ts';

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

/** Of states with a result. */
const result = ['ResultSelector', 'ResultPath', 'Retry', 'Catch', 'Next', 'End'];
/** Fields of each type of state. */
const fields = {
  Task: ['Resource', 'Parameters', 'TimeoutSeconds', 'TimeoutSecondsPath', 'HeartbeatSeconds', ...result],
  Map: ['ItemsPath', 'ItemSelector', 'ItemProcessor', ...result],
  Choice: ['Choices', 'Default'],
  Pass: ['Parameters', 'ResultPath', 'Next', 'End'],
  Succeed: [],
  Fail: ['Error', 'Cause'],
};

export interface State {
  Type: keyof typeof fields;
  Next?: string;
  Parameters?: unknown;
  ResultSelector?: unknown;
  ResultPath?: string | null;
  Retry?: Retrier[];
  Catch?: Catcher[];
  /** Task */
  Resource?: string;
  TimeoutSeconds?: number;
  TimeoutSecondsPath?: string;
  HeartbeatSeconds?: number;
  /** Choice */
  Choices?: Rule[];
  Default?: string;
  /** Fail */
  Error?: string;
  Cause?: string;
  /** Map */
  ItemsPath?: string;
  ItemSelector?: unknown;
  ItemProcessor?: Machine;
}

export interface Machine {
  StartAt: string;
  States: Record<string, State>;
  TimeoutSeconds?: number;
  /** Of an ItemProcessor. */
  ProcessorConfig?: { Mode?: string };
}

const invokeResource = 'arn:aws:states:::lambda:invoke';
export const tokenResource = `${invokeResource}.waitForTaskToken`;

const checkExpressions = (state: State): void => {
  for (const path of [state.ItemsPath, state.TimeoutSecondsPath]) if (path !== undefined) checkPath(path);
  for (const template of [state.Parameters, state.ItemSelector, state.ResultSelector]) checkTemplate(template);
  for (const { ResultPath } of [state, ...(state.Catch ?? [])])
    if (typeof ResultPath === 'string') checkReference(ResultPath);
  for (const rule of state.Choices ?? []) checkRule(rule);
};

const checkState = (name: string, state: State): void => {
  const refuse = (what: string): never => {
    throw new Error(`State ${name}: ${what} is not supported by the local Step Functions service`);
  };
  const own = fields[state.Type] ?? refuse(`Type ${state.Type}`);
  const other = Object.keys(state).find((field) => !['Type', 'Comment', ...own].includes(field));
  if (other) refuse(`${other} of a ${state.Type}`);
  if (state.Type === 'Task' && state.Resource !== invokeResource && state.Resource !== tokenResource) {
    refuse(`Resource ${state.Resource}`);
  }
  if (state.Type === 'Map') {
    const { Mode = 'INLINE' } = (state.ItemProcessor ?? refuse('a Map without ItemProcessor')).ProcessorConfig ?? {};
    if (Mode !== 'INLINE') refuse(`a Map of mode ${Mode}`);
  }
  try {
    checkExpressions(state);
  } catch (error) {
    throw new Error(`State ${name}: ${(error as Error).message}`);
  }
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
    if (state.ItemProcessor) checkMachine(state.ItemProcessor);
  }
};

/**
 * Prepares a definition for running; the given object is not changed.
 * @throws Error that names a state without an existing successor, or with a feature that this service lacks
 */
export const prepareDefinition = (definition: object): Machine => {
  if ('QueryLanguage' in definition)
    throw new Error(`QueryLanguage ${definition.QueryLanguage} is not supported by the local Step Functions service`);
  const machine = structuredClone(definition) as Machine;
  checkMachine(machine);
  return machine;
};
