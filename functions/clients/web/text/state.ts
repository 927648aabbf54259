import { byRisk, type Change, type Difference } from '#clients/client/text/plan.ts';
import { Secrets } from '#platform/formats/marks.ts';
import { marksOf, type SensitivePath, unwrappedAttributes } from './state-values.ts';

/** Differences between two states (Terraform's state format, version 4). */

interface Instance {
  index_key?: string | number;
  deposed?: string;
  attributes?: Record<string, unknown>;
  sensitive_attributes?: SensitivePath[];
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

interface StateValue {
  attributes: unknown;
  mask: unknown;
}

const instancesOf = (state: State | undefined): Map<string, StateValue> =>
  new Map(
    (state?.resources ?? []).flatMap((resource) =>
      (resource.instances ?? []).map((instance): [string, StateValue] => {
        const attributes = unwrappedAttributes(instance.attributes ?? {});
        const mask = marksOf(attributes, instance.sensitive_attributes ?? []);
        return [addressOf(resource, instance), { attributes, mask }];
      }),
    ),
  );

const outputsOf = (state: State | undefined): Map<string, StateValue> =>
  new Map(
    Object.entries(state?.outputs ?? {}).map(([name, { value, sensitive }]): [string, StateValue] => [
      name,
      { attributes: value, mask: sensitive === true },
    ]),
  );

const compare = (before: Map<string, StateValue>, after: Map<string, StateValue>, secrets: Secrets): Difference[] => {
  for (const { attributes, mask } of [...before.values(), ...after.values()]) secrets.add(attributes, mask);
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((address): Difference => {
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
      return { address, kind, also: [], notes: [], change, secrets };
    })
    .sort(byRisk);
};

export const stateDifferences = (
  before: State | undefined,
  after: State,
): { resources: Difference[]; outputs: Difference[] } => {
  const secrets = new Secrets();
  return {
    resources: compare(instancesOf(before), instancesOf(after), secrets),
    outputs: compare(outputsOf(before), outputsOf(after), secrets),
  };
};
