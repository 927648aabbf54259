import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, text } from '#api/validation.ts';
import { refusedArgument } from '#run/cli-arguments.ts';
import { maxValueBytes, type Variable, type VariableValues } from './records.ts';

/** Input of variables (HCP API: variables). */

const otherFields: OtherFields = {
  shown: 'created-at version-id',
  related: 'configurable overwriter overwritten registry-module varset workspace',
};

const maxKey = 128;

const key = v.pipe(
  v.string(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(maxKey, `may have at most ${maxKey} characters`),
);

const value = v.pipe(
  v.string(),
  v.check((value) => Buffer.byteLength(value) <= maxValueBytes, `may have at most ${maxValueBytes / 1024} KB`),
);

const category = v.picklist(['terraform', 'env']);

const settings = {
  value: setting(value),
  description: setting(text(512)),
  hcl: setting(v.boolean()),
  sensitive: setting(v.boolean()),
};

const forms: Record<'terraform' | 'env', [RegExp, string]> = {
  terraform: [
    // HCP Terraform accepts names that start with a digit; a run with such a variable reports its name.
    /^[\p{L}\p{N}_][\p{L}\p{N}_-]*$/u,
    'the name of a Terraform variable has only letters, digits, "_" and "-", and does not begin with "-"',
  ],
  env: [
    /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
    'the name of an environment variable has only A-Z, a-z, 0-9, "_", "-" and ".", and does not begin with "-" or "."',
  ],
};

const at = '/data/attributes';

const checkName = (variable: Pick<Variable, 'key' | 'category'>, pointer: string): void => {
  if (variable.category === 'policy-set') return;
  const [form, message] = forms[variable.category];
  if (!form.test(variable.key)) throw unprocessable(`${pointer}/key`, `key: ${message}`);
};

const checkContent = (
  variable: { key: string; category: string; hcl: boolean; value?: string },
  pointer: string,
): void => {
  if (variable.category === 'env' && variable.hcl) {
    throw unprocessable(`${pointer}/hcl`, 'hcl: cannot be true for environment variables');
  }
  if (variable.category === 'env' && variable.value?.includes('\0')) {
    throw unprocessable(`${pointer}/value`, 'value: must not contain a NUL character in an environment variable');
  }
  const problem = variable.category === 'env' ? refusedArgument(variable.key, variable.value ?? '') : undefined;
  if (problem) throw unprocessable(`${pointer}/value`, `value: ${problem}`);
};

/** Null means an empty value, except for a sensitive variable, where clients send it for the hidden value. */
export const givenValue = (
  { sensitive }: { sensitive: boolean },
  value: string | null | undefined,
): { value?: string } => (value === undefined || (value === null && sensitive) ? {} : { value: value ?? '' });

/** Making a sensitive variable readable would reveal its value. */
const checkSensitive = (variable: Variable, next: Pick<Variable, 'sensitive' | 'key'>, pointer: string) => {
  if (!variable.sensitive) return;
  const advice = 'of a sensitive variable cannot be changed. Delete it and create a new one.';
  if (!next.sensitive) throw unprocessable(`${pointer}/sensitive`, `sensitive: ${advice}`);
  if (next.key !== variable.key) throw unprocessable(`${pointer}/key`, `key: ${advice}`);
};

export const newVariable = v.object({ ...settings, key, category });

/** @throws {ApiError} 422; `pointer` is the JSON pointer to the attributes */
export const newVariableOf = (attributes: v.InferOutput<typeof newVariable>, pointer = at): VariableValues => {
  const variable = {
    key: attributes.key,
    category: attributes.category,
    value: attributes.value ?? '',
    description: attributes.description ?? null,
    hcl: attributes.hcl ?? false,
    sensitive: attributes.sensitive ?? false,
  };
  checkName(variable, pointer);
  checkContent(variable, pointer);
  return variable;
};

/** @throws {ApiError} 400 or 422 */
export const readNewVariable = (request: ApiRequest): VariableValues =>
  newVariableOf(readData(request, newVariable.entries, {}, otherFields).attributes);

export const variableChange = v.object({ ...settings, key: v.optional(key), category: v.optional(category) });

/** @throws {ApiError} 422 for changes the variable does not allow; `pointer` is the JSON pointer to the attributes */
export const changeOf = (
  variable: Variable,
  attributes: v.InferOutput<typeof variableChange>,
  pointer = at,
): Partial<VariableValues> => {
  const next = {
    key: attributes.key ?? variable.key,
    category: attributes.category ?? variable.category,
    hcl: attributes.hcl === undefined ? variable.hcl : (attributes.hcl ?? false),
    sensitive: attributes.sensitive ?? variable.sensitive,
    description: attributes.description === undefined ? variable.description : attributes.description,
    ...givenValue(variable, attributes.value),
  };
  checkName(next, pointer);
  checkContent({ ...next, value: next.value ?? variable.value }, pointer);
  checkSensitive(variable, next, pointer);
  return next;
};

/** @throws {ApiError} 400 or 422 */
export const readVariableChange = (request: ApiRequest, variable: Variable): Partial<VariableValues> =>
  changeOf(variable, readData(request, variableChange.entries, {}, otherFields).attributes);
