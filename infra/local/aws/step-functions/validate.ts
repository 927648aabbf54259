import { AwsError } from '#infra/local/host/errors.ts';
import { maxPayloadBytes, tooLarge } from './failure.ts';

/** Inputs of the actions, unvalidated from a client. */
export type Input = Record<string, unknown>;

const constraint = (field: string, what: string): AwsError =>
  new AwsError(
    'ValidationException',
    `1 validation error detected: Value at '${field}' failed to satisfy constraint: ${what}`,
  );

export const optionalText = (input: Input, field: string, maxLength?: number): string | undefined => {
  const value = input[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new AwsError('SerializationException', `${field} is not a string`);
  if (maxLength !== undefined && value.length > maxLength) {
    throw constraint(field, `Member must have length less than or equal to ${maxLength}`);
  }
  return value;
};

export const text = (input: Input, field: string, maxLength?: number): string => {
  const value = optionalText(input, field, maxLength);
  if (value === undefined) throw constraint(field, 'Member must not be null');
  if (value === '') throw constraint(field, 'Member must have length greater than or equal to 1');
  return value;
};

export const arn = (input: Input, field: string): string => {
  const value = text(input, field, 256);
  if (!value.startsWith('arn:aws:states:'))
    throw new AwsError('InvalidArn', `Invalid Arn: 'Invalid ARN prefix: ${value}'`);
  return value;
};

/** API reference, StartExecution: no white space, brackets, wildcards, special or control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: names must not contain control characters
const forbidden = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\u0000-\u001f\u007f-\u009f]/;

export const executionName = (input: Input): string | undefined => {
  const name = optionalText(input, 'name', 80);
  if (name === undefined) return undefined;
  if (name === '' || forbidden.test(name)) throw new AwsError('InvalidName', `Invalid Name: '${name}'`);
  return name;
};

/** A JSON text within the limit; `code` and `prefix` are those of the action's error for invalid JSON. */
export const json = (value: string, field: string, code: string, prefix: string): string => {
  if (tooLarge(value)) throw constraint(field, `Member must have length less than or equal to ${maxPayloadBytes}`);
  try {
    JSON.parse(value);
  } catch (error) {
    throw new AwsError(code, `${prefix}: '${(error as Error).message}'`);
  }
  return value;
};

export const oneOf = <T extends string>(input: Input, field: string, values: readonly T[]): T | undefined => {
  const value = optionalText(input, field);
  if (value !== undefined && !values.includes(value as T)) {
    throw constraint(field, `Member must satisfy enum value set: [${values.join(', ')}]`);
  }
  return value as T | undefined;
};

/** One page of a list. A token contains the start of the next page and is valid only for the same list. */
export const page = <T>(items: readonly T[], input: Input): { items: T[]; nextToken?: string } => {
  const size = (input.maxResults as number | undefined) || 100;
  if (!Number.isInteger(size) || size < 0 || size > 1000) {
    throw constraint('maxResults', 'Member must have value less than or equal to 1000');
  }
  const token = optionalText(input, 'nextToken');
  const from = token === undefined ? 0 : Number(Buffer.from(token, 'base64url').toString());
  if (!Number.isInteger(from) || from < 0 || (token !== undefined && from === 0)) {
    throw new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");
  }
  const to = from + size;
  return {
    items: items.slice(from, to),
    ...(to < items.length && { nextToken: Buffer.from(String(to)).toString('base64url') }),
  };
};
