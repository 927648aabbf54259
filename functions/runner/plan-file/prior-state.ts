import { isDeepStrictEqual } from 'node:util';
import { parseExactly } from '#platform/formats/exact-json.ts';
import { parseAddress, providerIn } from './address.ts';
import { differ } from './difference.ts';
import { UnknownPlanFileError } from './errors.ts';
import { type ComparedJson, type JsonResource, resourcesIn } from './json.ts';

/** Compares `prior_state` with the state in the plan file, which is Terraform's own format, version 4. */

interface State {
  outputs?: Record<string, { value?: unknown }>;
  resources?: {
    module?: string;
    mode: string;
    type: string;
    name: string;
    provider: string;
    instances?: { index_key?: unknown; deposed?: string; attributes?: unknown }[];
  }[];
}

interface Instance {
  where: string;
  provider: string;
  /** Absent in states of Terraform before 0.12. */
  values: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of undeclared type is stored with its type, which the JSON omits. */
const isTyped = (value: Record<string, unknown>): boolean => isDeepStrictEqual(Object.keys(value), ['value', 'type']);

const isSame = (stored: unknown, shown: unknown): boolean => {
  if (isDeepStrictEqual(stored ?? null, shown ?? null)) return true;
  if (Array.isArray(stored))
    return Array.isArray(shown) && stored.length === shown.length && stored.every((one, i) => isSame(one, shown[i]));
  if (!isObject(stored)) return false;
  if (isTyped(stored) && isSame(stored.value, shown)) return true;
  return (
    isObject(shown) &&
    [...new Set([...Object.keys(stored), ...Object.keys(shown)])].every((name) => isSame(stored[name], shown[name]))
  );
};

const stored = ({ resources = [] }: State): [string, Instance][] =>
  resources.flatMap(({ module = '', mode, type, name, provider, instances = [] }) =>
    instances.map(({ index_key, deposed = '', attributes }): [string, Instance] => [
      JSON.stringify([module, mode, type, name, index_key ?? null, deposed]),
      {
        where: [module, mode === 'data' ? mode : '', type, name].filter(Boolean).join('.'),
        provider: providerIn(provider),
        values: attributes,
      },
    ]),
  );

const keyOf = ({ address = '', mode, type, name, index, deposed_key = '' }: JsonResource): string => {
  const parts = parseAddress(address);
  if (!parts || !isDeepStrictEqual([parts.mode, parts.type, parts.name, parts.index], [mode, type, name, index]))
    differ(address, 'its address in prior_state does not match its mode, type, name and index');
  return JSON.stringify([parts?.module, mode, type, name, index ?? null, deposed_key]);
};

const parsed = (content: Buffer): State => {
  try {
    return parseExactly(content.toString('utf8')) as State;
  } catch {
    throw new UnknownPlanFileError('the state in it is not JSON');
  }
};

/** @throws {Difference} @throws {UnknownPlanFileError} */
export const comparePriorState = (
  content: Buffer | undefined,
  { outputs = {}, root_module = {} }: NonNullable<ComparedJson['prior_state']>['values'] & object = {},
): void => {
  const state = content ? parsed(content) : {};
  const left = new Map(stored(state));
  for (const shown of resourcesIn(root_module)) {
    const { address = '', provider_name, values } = shown;
    const key = keyOf(shown);
    const instance = left.get(key) ?? differ(address, 'it is in prior_state and not in the state of the plan file');
    if (instance.provider !== provider_name)
      differ(address, 'its provider in prior_state is not that of the plan file');
    if (instance.values !== undefined && !isSame(instance.values, values))
      differ(address, 'its values in prior_state differ from the plan file');
    left.delete(key);
  }
  for (const { where } of left.values()) differ(where, 'it is in the state of the plan file and not in prior_state');
  const names = [...new Set([...Object.keys(state.outputs ?? {}), ...Object.keys(outputs)])];
  for (const name of names)
    if (!isSame(state.outputs?.[name]?.value, outputs[name]?.value))
      differ(`output ${name}`, 'its value in prior_state differs from the plan file');
};
