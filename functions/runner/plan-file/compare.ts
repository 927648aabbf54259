import { isDeepStrictEqual } from 'node:util';
import type { Address } from './address.ts';
import { compareContext } from './context.ts';
import { Difference, differ } from './difference.ts';
import {
  type ComparedJson,
  type JsonChange,
  type JsonInvocation,
  type JsonResourceChange,
  resourcesIn,
} from './json.ts';
import { actions, type PlanFile, type Planned, type PlannedChange, type PlannedInvocation } from './plan-file.ts';
import { comparePriorState } from './prior-state.ts';
import { isUnknownOrSame, sorted } from './same.ts';
import { readValue, unknown, type Value } from './value.ts';

/**
 * Compares a plan file with the JSON that Terraform printed of it, so that policies evaluate the plan that is
 * applied. Compares everything that the file contains about resources, outputs, actions, variables, conditions and
 * the prior state. The JSON's `configuration` is not compared: its source is in the file (decisions/0180).
 */

/** Action numbers of the plan file, and the actions that the JSON of Terraform or OpenTofu has for them. */
const actionNames: Record<number, string[]> = {
  0: ['no-op'],
  1: ['create'],
  2: ['read'],
  3: ['update'],
  5: ['delete'],
  6: ['delete,create'],
  7: ['create,delete'],
  8: ['forget'],
  // Terraform's, and OpenTofu 1.11's of ephemeral resources.
  9: ['create,forget', 'open'],
  10: ['forget,create'],
};

/** Names of the reason numbers in the plan file. */
const reasonNames = [
  '',
  'replace_because_tainted',
  'replace_by_request',
  'replace_because_cannot_update',
  'delete_because_no_resource_config',
  'delete_because_wrong_repetition',
  'delete_because_count_index',
  'delete_because_each_key',
  'delete_because_no_module',
  'replace_by_triggers',
  'read_because_config_unknown',
  'read_because_dependency_pending',
  'delete_because_no_move_target',
  'read_because_check_nested',
];

const compareValue = (where: string, when: string, planned: Uint8Array | undefined, shown: unknown): void => {
  const value = planned === undefined ? null : readValue(planned);
  if (isUnknownOrSame(value, shown)) return;
  const names =
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? [...new Set([...Object.keys(value), ...Object.keys((shown as object | null) ?? {})])].filter(
          (name) =>
            !isUnknownOrSame(
              (value as Record<string, Value>)[name] ?? null,
              (shown as Record<string, unknown>)?.[name],
            ),
        )
      : [];
  differ(where, `values ${when} are not the same${names.length ? ` (${names.slice(0, 5).join(', ')})` : ''}`);
};

/**
 * Paths of unknown values, with a star for each list index, because a set with unknown elements may be ordered
 * differently.
 */
const unknownPaths = (value: unknown, isUnknown: (one: unknown) => boolean, path = ''): string[] => {
  if (isUnknown(value)) return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    unknownPaths(one, isUnknown, `${path} ${Array.isArray(value) ? '*' : JSON.stringify(name)}`),
  );
};

const compareUnknown = (where: string, after: Uint8Array | undefined, shown: unknown): void => {
  const planned = after ? unknownPaths(readValue(after), (one) => one === unknown) : [];
  const said = unknownPaths(shown, (one) => one === true);
  if (!isDeepStrictEqual(planned.sort(), said.sort()))
    differ(where, 'they differ in which values are unknown before the apply');
};

const compareChange = (where: string, planned: Planned, shown: JsonChange): void => {
  const { action, isImport, importId, generated, before, after } = planned;
  const names = actionNames[action] ?? differ(where, `the plan file has an action that is not known (${action})`);
  const shownActions = shown.actions.join(',');
  if (!names.includes(shownActions))
    differ(where, `the plan file has the action ${names[0]}, the JSON ${shownActions || 'none'}`);
  if (isImport !== Boolean(shown.importing)) differ(where, 'only one of them imports it');
  if (importId !== (shown.importing?.id ?? '')) differ(where, 'they import another object');
  if (generated !== (shown.generated_config ?? '')) differ(where, 'other configuration was generated');
  compareValue(where, 'before', before, shown.before);
  compareValue(where, 'after', after, shown.after);
  compareUnknown(where, after, shown.after_unknown);
};

const isSameIndex = (index: Address['index'], shown: unknown): boolean =>
  typeof index === 'object' ? shown === undefined || shown === null : index === (shown ?? undefined);

const compareResource = (planned: PlannedChange, shown: JsonResourceChange): void => {
  const { address, parts, change } = planned;
  const pairs: [what: string, planned: string | undefined, shown: string | undefined][] = [
    ['module', parts.module, shown.module_address ?? ''],
    ['mode', parts.mode, shown.mode],
    ['type', parts.type, shown.type],
    ['name', parts.name, shown.name],
    ['provider', planned.provider, shown.provider_name],
    ['previous address', planned.previousAddress, shown.previous_address],
  ];
  for (const [what, one, other] of pairs)
    if (one !== other) differ(address, `the plan file has the ${what} ${one ?? 'none'}, the JSON ${other ?? 'none'}`);
  if (!isSameIndex(parts.index, shown.index)) differ(address, 'their indexes are not the same');
  const reason = reasonNames[planned.reason];
  // Later versions have more reasons.
  if (reason !== undefined && reason !== (shown.action_reason ?? '')) differ(address, 'the action has another reason');
  if (!isDeepStrictEqual(sorted(planned.replacePaths), sorted(shown.change.replace_paths ?? [])))
    differ(address, 'other values require a replacement');
  // OpenTofu keeps values of ephemeral resources out of the JSON.
  const isEphemeral = parts.mode === 'ephemeral';
  compareChange(address, isEphemeral ? { ...change, before: undefined, after: undefined } : change, shown.change);
};

const keyOf = (address = '', deposed = ''): string => `${address} ${deposed}`;

/** @param mayLack whether the JSON may omit the change */
const compareResources = (
  planned: PlannedChange[],
  shown: JsonResourceChange[],
  mayLack: (change: PlannedChange) => boolean,
): void => {
  const left = new Map(shown.map((one) => [keyOf(one.address, one.deposed), one]));
  if (left.size < shown.length) differ('the JSON', 'it has an address twice');
  for (const one of planned) {
    const key = keyOf(one.address, one.deposed);
    const other = left.get(key);
    if (other) compareResource(one, other);
    else if (!mayLack(one)) differ(one.address, 'it is in the plan file and not in the JSON');
    left.delete(key);
  }
  for (const { address = '' } of left.values()) differ(address, 'it is in the JSON and not in the plan file');
};

/** Terraform removes deleted data sources from its state and omits them from the JSON. */
const deletesData = ({ parts, change }: PlannedChange): boolean =>
  parts.mode === 'data' && change.action === actions.delete;

const compareOutputs = (planned: PlanFile['outputs'], shown: Record<string, JsonChange>): void => {
  for (const [name, change] of planned) {
    const other = Object.hasOwn(shown, name) ? shown[name] : undefined;
    if (!other) differ(`output ${name}`, 'it is in the plan file and not in the JSON');
    else {
      compareChange(`output ${name}`, change, other);
      if (change.isSensitive && !(other.before_sensitive === true && other.after_sensitive === true))
        differ(`output ${name}`, 'it is sensitive in the plan file and not in the JSON');
    }
  }
  for (const name of Object.keys(shown))
    if (!planned.has(name)) differ(`output ${name}`, 'it is in the JSON and not in the plan file');
};

/** Several resources can invoke the same action. */
const compareInvocations = (planned: PlannedInvocation[], shown: JsonInvocation[]): void => {
  const left = [...shown];
  for (const { address, parts, provider, config } of planned) {
    const value = config === undefined ? null : readValue(config);
    const at = left.findIndex(
      (one) =>
        one.address === address &&
        one.type === parts.type &&
        one.name === parts.name &&
        one.provider_name === provider &&
        isUnknownOrSame(value, one.config_values),
    );
    if (at < 0) differ(address, 'the plan file has an invocation of this action that the JSON does not have');
    left.splice(at, 1);
  }
  for (const { address = '' } of left)
    differ(address, 'the JSON has an invocation of this action that the plan file does not have');
};

/** The JSON repeats the planned values by module, and policies read either. */
const comparePlannedValues = ({
  resource_changes = [],
  output_changes = {},
  planned_values = {},
}: ComparedJson): void => {
  const current = resource_changes.filter(({ deposed }) => deposed === undefined);
  const changes = new Map(current.map((one) => [one.address, one] as const));
  const seen = new Set<string | undefined>();
  for (const { address = '', mode, type, name, provider_name, values } of resourcesIn(
    planned_values.root_module ?? {},
  )) {
    const other = changes.get(address);
    if (!other) differ(address, 'it is in planned_values and not in resource_changes');
    const { change, ...rest } = other as JsonResourceChange;
    const isEqual = isDeepStrictEqual(
      [mode, type, name, provider_name, values ?? {}],
      [rest.mode, rest.type, rest.name, rest.provider_name, change.after ?? {}],
    );
    if (!isEqual) differ(address, 'planned_values and resource_changes are not the same');
    seen.add(address);
  }
  for (const { address, mode, change } of changes.values())
    if (mode === 'managed' && change.after && !seen.has(address))
      differ(address ?? '', 'it is in resource_changes and not in planned_values');
  // The JSON contains only outputs that are completely known.
  for (const [name, { value }] of Object.entries(planned_values.outputs ?? {}))
    if (value !== undefined && !isDeepStrictEqual(value, output_changes[name]?.after ?? null))
      differ(`output ${name}`, 'planned_values and output_changes are not the same');
};

/**
 * How the JSON differs from the plan file, with the address and without values.
 * @returns undefined if they are equal
 * @throws {UnknownPlanFileError} if a value of the file cannot be read
 */
export const difference = (file: PlanFile, json: ComparedJson): string | undefined => {
  const { resource_changes = [], resource_drift = [], deferred_changes = [], output_changes = {} } = json;
  try {
    compareResources(file.changes, resource_changes, deletesData);
    // Except in refresh-only plans, the JSON omits resources that were only moved.
    const isOnlyMoved = (one: PlannedChange) => one.change.action === actions.noOp || deletesData(one);
    if (file.drift) compareResources(file.drift, resource_drift, isOnlyMoved);
    const deferred = deferred_changes.flatMap(({ resource_change }) => resource_change ?? []);
    compareResources(file.deferred, deferred, () => false);
    compareInvocations(file.invocations, json.action_invocations ?? []);
    const later = (json.deferred_action_invocations ?? []).flatMap(({ action_invocation }) => action_invocation ?? []);
    compareInvocations(file.deferredInvocations, later);
    compareOutputs(file.outputs, output_changes);
    comparePlannedValues(json);
    compareContext(file, json);
    comparePriorState(file.priorState, json.prior_state?.values);
    return undefined;
  } catch (error) {
    if (error instanceof Difference) return error.message;
    throw error;
  }
};
