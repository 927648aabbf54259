import { runInNewContext } from 'node:vm';
import type { Parameter, Preset } from '../templates/plan.ts';

/** Values of parameters for a build, and their validation (Coder: richparameters.go). */

export interface Value {
  name: string;
  value: string;
}

/** An invalid value. */
export class ParameterError extends Error {
  override name = 'ParameterError';
  readonly parameter: string;

  constructor(parameter: string, why: string) {
    super(why);
    this.parameter = parameter;
  }
}

const listIn = (parameter: Parameter, value: string): string[] => {
  try {
    const parsed = JSON.parse(value) as unknown;
    if (Array.isArray(parsed) && parsed.every((item) => typeof item === 'string')) return parsed;
  } catch {
    // Reported below.
  }
  throw new ParameterError(parameter.name, `value "${value.slice(0, 200)}" is not a JSON list of strings`);
};

const checkOptions = (parameter: Parameter, value: string): void => {
  const { options, type } = parameter;
  if (options.length === 0) return;
  const allowed = options.map((option) => option.value);
  const isKnown = (candidate: string) => allowed.includes(candidate);
  const chosen = type === 'list(string)' && !isKnown(value) ? listIn(parameter, value) : [value];
  if (!chosen.every(isKnown)) {
    throw new ParameterError(parameter.name, `parameter value must match one of options: [${allowed.join(' ')}]`);
  }
};

/** Inserts the numbers into a template's own message. */
const problemText = ({ error, min, max }: Parameter, value: string, otherwise: string): string =>
  error
    ? error
        .replaceAll('{min}', String(min ?? ''))
        .replaceAll('{max}', String(max ?? ''))
        .replaceAll('{value}', value)
    : otherwise;

const checkNumber = (parameter: Parameter, value: string, previous: string | undefined): void => {
  const { name, min, max, monotonic } = parameter;
  const number = Number(value);
  if (!/^-?\d+$/.test(value.trim()))
    throw new ParameterError(name, `takes a number value but "${value}" is not a number`);
  if (min !== undefined && number < min)
    throw new ParameterError(name, problemText(parameter, value, `value ${number} is less than the minimum ${min}`));
  if (max !== undefined && number > max)
    throw new ParameterError(name, problemText(parameter, value, `value ${number} is more than the maximum ${max}`));
  const before = Number(previous || Number.NaN);
  if (monotonic === 'increasing' && number < before)
    throw new ParameterError(
      name,
      `parameter value "${number}" must be equal or greater than previous value: ${before}`,
    );
  if (monotonic === 'decreasing' && number > before)
    throw new ParameterError(name, `parameter value "${number}" must be equal or lower than previous value: ${before}`);
};

const patternMs = 100;

/**
 * A template's pattern can take forever on some values, and can use Go's syntax, which is larger than JavaScript's.
 * If it cannot be evaluated here, the provider decides during the plan, where it checks all values again.
 */
const matches = (regex: string, value: string): boolean => {
  try {
    return runInNewContext('new RegExp(regex, "u").test(value)', { regex, value }, { timeout: patternMs }) === true;
  } catch {
    return true;
  }
};

const checkPattern = ({ name, regex, error }: Parameter, value: string): void => {
  if (regex && !matches(regex, value))
    throw new ParameterError(
      name,
      `${error || 'value does not match the pattern'} (value "${value}" does not match "${regex}")`,
    );
};

const check = (parameter: Parameter, value: string, previous: string | undefined): void => {
  const { name, type, displayName } = parameter;
  try {
    if (parameter.required && value === '') throw new ParameterError(name, 'parameter value is required');
    checkOptions(parameter, value);
    if (type === 'number' && value !== '') checkNumber(parameter, value, previous);
    checkPattern(parameter, value);
    if (type === 'bool' && value !== 'true' && value !== 'false')
      throw new ParameterError(name, 'boolean value can be either "true" or "false"');
    if (type === 'list(string)' && value !== '') listIn(parameter, value);
  } catch (error) {
    const { message } = error as Error;
    throw new ParameterError(name, `can't validate build parameter "${displayName || name}": ${message}`);
  }
};

const of = (values: readonly Value[], name: string): string | undefined =>
  values.find((value) => value.name === name)?.value;

export interface ParameterInput {
  parameters: readonly Parameter[];
  requested: readonly Value[];
  /** Values of the previous build; undefined for a first one. */
  previous?: readonly Value[] | undefined;
  preset?: Preset | undefined;
}

/**
 * A value for every parameter: from the preset, the request, the previous build (unless the parameter is ephemeral),
 * or the default.
 * @throws {ParameterError}
 */
export const resolveParameters = ({ parameters, requested, previous, preset }: ParameterInput): Value[] =>
  parameters.map((parameter) => {
    const { name, mutable, ephemeral, required, defaultValue } = parameter;
    const before = of(previous ?? [], name);
    const requestedValue = preset?.parameters[name] ?? of(requested, name);
    if (!mutable && requestedValue !== undefined && before !== undefined && requestedValue !== before) {
      throw new ParameterError(
        name,
        `Parameter "${name}" is not mutable, so it can't be updated after creating a workspace.`,
      );
    }
    const value = requestedValue ?? (ephemeral ? undefined : before) ?? (required ? undefined : defaultValue);
    if (value === undefined) throw new ParameterError(name, `Parameter "${name}" is required but not provided`);
    check(parameter, value, before);
    return { name, value };
  });

/**
 * The preset with all values equal to the requested ones; of several, the one with the most values, then the first by
 * name.
 */
export const matchingPreset = (presets: readonly Preset[], requested: readonly Value[]): Preset | undefined => {
  const entries = (preset: Preset) => Object.entries(preset.parameters);
  return presets
    .filter((preset) => entries(preset).every(([name, value]) => of(requested, name) === value))
    .sort((a, b) => entries(b).length - entries(a).length || (a.name < b.name ? -1 : 1))[0];
};
