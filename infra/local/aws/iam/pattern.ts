import { StartError } from '#infra/local/host/errors.ts';

type Json = Record<string, unknown>;
type Matcher = (event: unknown) => boolean;

/**
 * Compiles an EventBridge event pattern (EventBridge: event patterns). Supports exact values, `prefix`, `suffix`,
 * `wildcard`, `anything-but`, `exists`, `equals-ignore-case` and `$or`. Throws StartError for any other operator, so that a
 * rule that would match differently than on AWS fails at the start.
 */
export const compilePattern = (pattern: Json, rule: string): Matcher => {
  const { $or, ...all } = pattern;
  const fields = Object.entries(all).map(([name, expected]) => [name, compileField(expected, rule)] as const);
  const alternatives = ($or as Json[] | undefined)?.map((one) => compilePattern(one, rule));
  const matches = (event: unknown): boolean => {
    // One matching element of an array is enough (EventBridge: arrays in event patterns).
    if (Array.isArray(event)) return event.some(matches);
    if (alternatives && !alternatives.some((one) => one(event))) return false;
    if (event === null || typeof event !== 'object') return fields.every(([, matches]) => matches(undefined));
    return fields.every(([name, matches]) => matches((event as Json)[name]));
  };
  return matches;
};

const compileField = (expected: unknown, rule: string): Matcher => {
  if (!Array.isArray(expected)) return compilePattern(expected as Json, rule);
  const options = expected.map((option) => compileValue(option, rule));
  return (value) =>
    options.some((matches) => (Array.isArray(value) ? value.some((element) => matches(element)) : matches(value)));
};

const compileValue = (expected: unknown, rule: string): Matcher => {
  if (expected === null || typeof expected !== 'object') return (value) => value === expected;
  const [operator, operand] = Object.entries(expected)[0] ?? ['', undefined];
  const text =
    (test: (value: string) => boolean): Matcher =>
    (value) =>
      typeof value === 'string' && test(value);
  switch (operator) {
    case 'prefix':
      if (typeof operand === 'string') return text((value) => value.startsWith(operand));
      break;
    case 'suffix':
      if (typeof operand === 'string') return text((value) => value.endsWith(operand));
      break;
    case 'wildcard':
      // A backslash escapes; no pattern here needs that.
      if (typeof operand === 'string' && !operand.includes('\\')) {
        const form = new RegExp(`^${operand.replaceAll(/[.+?^${}()|[\]]/g, '\\$&').replaceAll('*', '[^]*')}$`);
        return text((value) => form.test(value));
      }
      break;
    case 'equals-ignore-case':
      return text((value) => value.toLowerCase() === String(operand).toLowerCase());
    case 'exists':
      return (value) => (value !== undefined) === operand;
    case 'anything-but': {
      const excluded = [operand].flat();
      if (excluded.every((value) => value === null || typeof value !== 'object'))
        return (value) => value !== undefined && !excluded.includes(value);
      break;
    }
    default:
  }
  throw new StartError(`rule ${rule}: the pattern ${JSON.stringify(expected)} is not supported by the local platform`);
};
