import type { Change, Difference } from './plan.ts';

/** What differs between two states (Terraform's state format, version 4). */

interface Instance {
  index_key?: string | number;
  deposed?: string;
  attributes?: Record<string, unknown>;
  sensitive_attributes?: { type: string; value: unknown }[][];
}

interface StateResource {
  module?: string;
  mode: string;
  type: string;
  name: string;
  instances?: Instance[];
}

export interface State {
  serial?: number;
  resources?: StateResource[];
  outputs?: Record<string, { value?: unknown; sensitive?: boolean }>;
}

const addressOf = ({ module, mode, type, name }: StateResource, { index_key, deposed }: Instance): string =>
  [
    module && `${module}.`,
    mode === 'data' && 'data.',
    `${type}.${name}`,
    index_key !== undefined && `[${JSON.stringify(index_key)}]`,
    deposed && ` (deposed ${deposed})`,
  ]
    .filter(Boolean)
    .join('');

type Json = Record<string | number, unknown>;

/** `[[{type: get_attr, value: password}]]` → `{password: true}`, the form that plans have. */
const maskOf = (paths: Instance['sensitive_attributes'] = []): unknown => {
  const mask: Json = {};
  for (const path of paths) {
    let at = mask;
    path.forEach(({ value }, i) => {
      const key = value as string | number;
      if (i === path.length - 1) at[key] = true;
      else if (at[key] !== true) {
        at[key] ??= {};
        at = at[key] as Json;
      }
    });
  }
  return mask;
};

interface Known {
  attributes: unknown;
  mask: unknown;
}

const instancesOf = (state: State | undefined): Map<string, Known> =>
  new Map(
    (state?.resources ?? []).flatMap((resource) =>
      (resource.instances ?? []).map((instance): [string, Known] => [
        addressOf(resource, instance),
        { attributes: instance.attributes ?? {}, mask: maskOf(instance.sensitive_attributes) },
      ]),
    ),
  );

const outputsOf = (state: State | undefined): Map<string, Known> =>
  new Map(
    Object.entries(state?.outputs ?? {}).map(([name, { value, sensitive }]): [string, Known] => [
      name,
      { attributes: value, mask: sensitive === true },
    ]),
  );

const compare = (before: Map<string, Known>, after: Map<string, Known>): Difference[] =>
  [...new Set([...before.keys(), ...after.keys()])].sort().map((address): Difference => {
    const was = before.get(address);
    const is = after.get(address);
    const change: Change = {
      actions: [],
      before: was?.attributes,
      after: is?.attributes,
      before_sensitive: was?.mask,
      after_sensitive: is?.mask,
    };
    const differs = JSON.stringify(was?.attributes) !== JSON.stringify(is?.attributes);
    const kind = !was ? 'create' : !is ? 'destroy' : differs ? 'update' : 'same';
    return { address, kind, also: [], notes: [], change };
  });

export const stateDifferences = (
  before: State | undefined,
  after: State,
): { resources: Difference[]; outputs: Difference[] } => ({
  resources: compare(instancesOf(before), instancesOf(after)),
  outputs: compare(outputsOf(before), outputsOf(after)),
});
