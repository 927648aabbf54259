import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { check, readData, setting, text, toOne, typeOf } from '#api/validation.ts';
import { newId } from '#platform/store/id.ts';
import { newVariable, newVariableOf } from '#resources/variables/input.ts';
import type { VariableValues } from '#resources/variables/records.ts';
import type { NoCodeSettings, VariableOption } from './records.ts';
import type { Release } from './release.ts';

/** Input of no-code modules and of workspaces created from them (HCP API: no-code modules). */

const otherFields: OtherFields = { shown: 'created-at updated-at', related: 'organization' };

const optionList = v.pipe(
  v.array(
    v.object({
      type: typeOf('variable-options'),
      attributes: v.object({
        'variable-name': v.pipe(
          text(128),
          v.regex(/^[\p{L}_][\p{L}\p{N}_-]*$/u, 'must be the name of a variable of the module'),
        ),
        'variable-type': v.picklist(['string', 'number', 'bool'], 'must be string, number or bool'),
        options: v.pipe(v.array(text(1000)), v.maxLength(100, 'may have at most 100 values')),
      }),
    }),
  ),
  v.maxLength(100, 'may have at most 100 variables'),
);

const optionsPointer = '/data/relationships/variable-options';

const fits: Record<string, RegExp> = { number: /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/, bool: /^(true|false)$/ };

const optionsOf = (list: v.InferOutput<typeof optionList>): VariableOption[] =>
  list.map(({ attributes: { 'variable-name': name, 'variable-type': type, options } }, i) => {
    const at = `${optionsPointer}/data/${i}/attributes`;
    if (list.findIndex(({ attributes }) => attributes['variable-name'] === name) !== i) {
      throw unprocessable(`${at}/variable-name`, `variable-name: ${name} is listed twice. Remove one`);
    }
    const invalid = options.findIndex((option) => fits[type] && !fits[type].test(option));
    if (invalid >= 0)
      throw unprocessable(`${at}/options/${invalid}`, `options: each value for ${name} must be a ${type}`);
    return { id: newId('ncvo'), name, type, options: [...new Set(options)] };
  });

/** Settings in the body. The route checks the module's id. @throws {ApiError} 400 or 422 */
export const readNoCode = (request: ApiRequest): Partial<NoCodeSettings> & { moduleId?: string } => {
  const { attributes, relationships } = readData(
    request,
    { enabled: setting(v.boolean()), 'version-pin': setting(text(100)) },
    {
      'registry-module': v.optional(toOne('registry-modules')),
      'variable-options': v.optional(v.object({ data: optionList })),
    },
    otherFields,
  );
  const { enabled, 'version-pin': pin } = attributes;
  const list = relationships['variable-options']?.data;
  return {
    ...(enabled === undefined ? {} : { enabled: enabled ?? true }),
    ...(pin ? { versionPin: pin } : {}),
    ...(list ? { options: optionsOf(list) } : {}),
    ...(relationships['registry-module']?.data ? { moduleId: relationships['registry-module'].data.id } : {}),
  };
};

/** Checks names and types against the module's declarations, if known. @throws {ApiError} 422 */
export const checkOptions = (options: VariableOption[], release: Release | undefined): void => {
  if (!release) return;
  for (const [i, { name, type }] of options.entries()) {
    const at = `${optionsPointer}/data/${i}/attributes`;
    const input = release.root.inputs.find((candidate) => candidate.name === name);
    if (!input) {
      throw unprocessable(`${at}/variable-name`, `variable-name: version ${release.version} has no variable ${name}`);
    }
    if (input.type !== 'any' && input.type !== type) {
      throw unprocessable(`${at}/variable-type`, `variable-type: ${name} is of type ${input.type} in the module`);
    }
  }
};

const varsPointer = '/data/relationships/vars/data';

const varList = v.object({
  data: v.optional(
    v.object({
      relationships: v.optional(
        v.object({
          vars: v.optional(
            v.object({
              data: v.pipe(
                v.array(
                  v.object({ attributes: v.object({ ...newVariable.entries, category: v.nullish(v.string()) }) }),
                ),
                v.maxLength(500, 'may have at most 500 variables'),
              ),
            }),
          ),
        }),
      ),
    }),
  ),
});

const variablesIn = (request: ApiRequest): VariableValues[] => {
  const list = check(varList, request.json() ?? {}).data?.relationships?.vars?.data ?? [];
  return list.map(({ attributes }, i) => {
    const at = `${varsPointer}/${i}/attributes`;
    const category = attributes.category ?? 'terraform';
    if (category !== 'terraform' && category !== 'env') {
      throw unprocessable(`${at}/category`, 'category: must be terraform or env');
    }
    return newVariableOf({ ...attributes, category }, at);
  });
};

/** Checks that the module declares the variable and offers the value. @throws {ApiError} 422 */
const checkValue = (
  { key, value, category }: VariableValues,
  at: string,
  release: Release,
  options: VariableOption[],
) => {
  if (category === 'terraform' && !release.root.inputs.some(({ name }) => name === key)) {
    throw unprocessable(`${at}/key`, `key: version ${release.version} of the module has no variable ${key}`);
  }
  // Terraform also reads variables from the environment.
  const variable = category === 'env' ? key.replace(/^TF_VAR_/, '') : key;
  const isVariable = category === 'terraform' || variable !== key;
  const offered = (isVariable && options.find(({ name }) => name === variable)?.options) || [];
  if (offered.length > 0 && !offered.includes(value)) {
    throw unprocessable(`${at}/value`, `value: ${key} must be one of ${offered.join(', ')}`);
  }
};

/**
 * Variables for a workspace of the module. Variables that the module declares as sensitive are stored encrypted in
 * any case.
 * @throws {ApiError} 400 or 422
 */
export const readModuleVariables = (
  request: ApiRequest,
  release: Release,
  options: VariableOption[],
): VariableValues[] => {
  const variables = variablesIn(request);
  for (const [i, variable] of variables.entries()) {
    const at = `${varsPointer}/${i}/attributes`;
    checkValue(variable, at, release, options);
    const same = ({ key, category }: VariableValues) => key === variable.key && category === variable.category;
    if (variables.findIndex(same) !== i)
      throw unprocessable(`${at}/key`, `key: ${variable.key} is set twice. Remove one`);
  }
  const sensitive = new Set(release.root.inputs.flatMap(({ name, sensitive }) => (sensitive ? [name] : [])));
  return variables.map((values) =>
    values.category === 'terraform' && sensitive.has(values.key) ? { ...values, sensitive: true } : values,
  );
};

const settable = new Set(
  `name description auto-apply execution-mode agent-pool-id terraform-version source-name source-url
      setting-overwrites`.split(/\s+/),
);

/** Rejects other settings: they follow from the module, or can be set later. @throws {ApiError} 422 */
export const checkWorkspaceSettings = (request: ApiRequest): void => {
  const body = request.json() as { data?: { attributes?: Record<string, unknown> } } | undefined;
  for (const [name, value] of Object.entries(body?.data?.attributes ?? {})) {
    if (settable.has(name) || value === null) continue;
    throw unprocessable(
      `/data/attributes/${name.slice(0, 100)}`,
      `${name.slice(0, 100)}: cannot be set when a workspace is created from a module; set it afterwards`,
    );
  }
};

/** Accepts variables only. @throws {ApiError} 400 or 422 */
export const checkUpgrade = (request: ApiRequest): void => {
  if (request.bytes > 0) readData(request, {}, {}, { related: 'vars' });
};
