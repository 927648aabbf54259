import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseExactly } from '#platform/formats/exact-json.ts';
import { difference } from '#runner/plan-file/compare.ts';
import type { PlanFile } from '#runner/plan-file/plan-file.ts';
import { begin, keys, planned, removePlans } from './support.ts';

/** Real plan files of Terraform, and their JSON. */

// biome-ignore lint/suspicious/noExplicitAny: documents of Terraform's, changed at any depth
type Json = any;
let file: PlanFile;
let json: Json;
beforeAll(async () => {
  begin();
  ({ file, json } = await planned());
}, 120_000);
afterAll(removePlans);

it('the compared plan has every action', () => {
  const actions = json.resource_changes.map(({ mode, change }: Json) => `${mode} ${change.actions}`);
  expect([...new Set(actions)].sort()).toEqual([
    'data read',
    'managed create',
    'managed create,delete',
    'managed delete',
    'managed delete,create',
    'managed forget',
    'managed no-op',
    'managed update',
  ]);
  expect(json.resource_changes.filter((one: Json) => one.previous_address)).toHaveLength(keys.length);
  expect(json.resource_changes.some(({ change }: Json) => change.importing)).toBe(true);
});

it('a plan file and its JSON are equal', () => expect(difference(file, json)).toBeUndefined());

it.each([
  ['that destroys', ['-destroy']],
  ['that only refreshes', ['-refresh-only']],
  [
    'with targets and a replacement, that does not refresh',
    [
      ...['changed', 'moved', 'old', 'kept'].map((name) => `-target=terraform_data.${name}`),
      '-replace=terraform_data.kept',
      '-refresh=false',
    ],
  ],
])('a plan file and its JSON are equal for a plan %s', async (_, flags) => {
  const other = await planned(...flags);
  expect(difference(other.file, other.json)).toBeUndefined();
});

const copied = (): Json => parseExactly(JSON.stringify(json));
const of = (copy: Json, address: string): Json =>
  copy.resource_changes.find((one: Json) => one.address === address && one.deposed === undefined);

/** @param path names and indexes, with dots */
const put = (target: Json, path: string, value: unknown): void => {
  const names = path.split('.');
  const last = names.pop() as string;
  const holder = names.reduce((inner, name) => inner[name], target);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
};

const prior = (copy: Json, address: string): Json =>
  copy.prior_state.values.root_module.resources.find((one: Json) => one.address === address);
const failed = (copy: Json): Json[] =>
  copy.checks.filter(({ status }: Json) => status === 'fail').flatMap((one: Json) => [one, ...one.instances]);

const counted = 'module.n[0].terraform_data.counted[0]';
const input = 'change.after.input';

it.each<[address: string, path: string, value: unknown]>([
  ['terraform_data.deleted', 'change.actions', ['no-op']],
  ['terraform_data.replaced', 'change.actions', ['create', 'delete']],
  ['terraform_data.forgotten', 'change.actions', ['delete']],
  ['terraform_data.imported', 'change.importing', undefined],
  ['terraform_data.changed', 'type', 'null_resource'],
  ['terraform_data.changed', 'name', 'other'],
  ['terraform_data.changed', 'mode', 'data'],
  ['terraform_data.changed', 'provider_name', 'registry.terraform.io/hashicorp/aws'],
  ['terraform_data.changed', 'deposed', '12345678'],
  ['terraform_data.changed', 'address', 'terraform_data.other'],
  ['terraform_data.moved["plain"]', 'previous_address', undefined],
  [counted, 'module_address', 'module.n[1]'],
  [counted, 'index', 1],
  [counted, 'index', '0'],
  [counted, 'index', undefined],
  ['terraform_data.changed', 'change.before.input', 'x'],
  ['terraform_data.changed', input, 'x'],
  ['terraform_data.changed', 'change.after', null],
  ['terraform_data.kept', `${input}.numbers.1`, 1],
  ['terraform_data.kept', `${input}.numbers.8`, -2.5e299],
  ['terraform_data.kept', `${input}.nothing`, ''],
  ['terraform_data.kept', `${input}.more`, 1],
  ['terraform_data.kept', `${input}.text`, undefined],
  ['terraform_data.kept', `${input}.list`, ['b', 'a']],
  ['terraform_data.kept', `${input}.list.2`, 'c'],
  ['terraform_data.kept', `${input}.deep.0.0.0.a.1.b`, 'x'],
  ['terraform_data.created', `${input}.unknown`, 'x'],
  ['terraform_data.created', `${input}.list.1`, 'x'],
  ['terraform_data.created', `${input}.set.2`, 'x'],
  ['terraform_data.created', 'change.after_unknown.input.unknown', undefined],
  ['terraform_data.created', 'change.after_unknown.input.known', { b: true }],
  ['terraform_data.imported', 'change.importing.id', 'other-id'],
  ['terraform_data.imported', 'change.generated_config', 'resource {}'],
  ['terraform_data.replaced', 'change.replace_paths', undefined],
  ['terraform_data.replaced', 'change.replace_paths.0.0', 'input'],
  ['terraform_data.replaced', 'action_reason', 'replace_by_request'],
  ['terraform_data.deleted', 'action_reason', undefined],
])('the comparison finds another value at %s %s %j', (address, path, value) => {
  const copy = copied();
  put(of(copy, address), path, value);
  expect(difference(file, copy)).toContain(address);
});

it.each<[what: string, message: RegExp, change: (copy: Json) => void]>([
  [
    'a change less',
    /^terraform_data\.changed: .*not in the JSON/,
    (copy) => {
      copy.resource_changes = copy.resource_changes.filter((one: Json) => one !== of(copy, 'terraform_data.changed'));
    },
  ],
  [
    'a change more',
    /^x\.y: .*not in the plan file/,
    (copy) => {
      copy.resource_changes.push({ ...of(copy, 'terraform_data.kept'), address: 'x.y' });
    },
  ],
  ['a change twice', /twice/, (copy) => copy.resource_changes.push(of(copy, 'terraform_data.kept'))],
  ['no changes', /not in the JSON/, (copy) => put(copy, 'resource_changes', undefined)],
  [
    'drift',
    /^terraform_data\.kept: .*not in the plan file/,
    (copy) => put(copy, 'resource_drift', [of(copy, 'terraform_data.kept')]),
  ],
  [
    'a deferred change',
    /^terraform_data\.kept: .*not in the plan file/,
    (copy) => put(copy, 'deferred_changes', [{ reason: 'unknown', resource_change: of(copy, 'terraform_data.kept') }]),
  ],
  ['an output less', /^output plain: .*not in the JSON/, (copy) => put(copy, 'output_changes.plain', undefined)],
  [
    'an output more',
    /^output more: .*not in the plan file/,
    (copy) => put(copy, 'output_changes.more', copy.output_changes.plain),
  ],
  [
    'another output',
    /^output plain: values after .*\(text\)/,
    (copy) => put(copy, 'output_changes.plain.after.text', 'x'),
  ],
  [
    'a secret output',
    /^output sensitive: values after/,
    (copy) => put(copy, 'output_changes.sensitive.after.secret', 'x'),
  ],
  [
    'another action of an output',
    /^output gone: .*delete/,
    (copy) => put(copy, 'output_changes.gone.actions', ['no-op']),
  ],
  ['another planned value', /planned_values/, (copy) => put(copy, 'planned_values.root_module.resources.0.values', {})],
  ['a planned resource less', /not in planned_values/, (copy) => copy.planned_values.root_module.resources.pop()],
  [
    'a planned resource more',
    /^x\.y: .*planned_values/,
    (copy) => copy.planned_values.root_module.resources.push({ address: 'x.y' }),
  ],
  [
    'a planned module less',
    /^module\..*not in planned_values/,
    (copy) => copy.planned_values.root_module.child_modules.pop(),
  ],
  ['another Terraform', /^terraform_version: /, (copy) => put(copy, 'terraform_version', '1.0.0')],
  ['another time', /^timestamp: /, (copy) => put(copy, 'timestamp', '2020-01-01T00:00:00Z')],
  ['another variable', /^variable given: /, (copy) => put(copy, 'variables.given.value.1', 1.6)],
  ['a variable less', /^variable given: /, (copy) => put(copy, 'variables.given', undefined)],
  ['a default that is none', /^variable unused: /, (copy) => put(copy, 'variables.unused.value.a', 2)],
  ['a variable more', /^variable more: /, (copy) => put(copy, 'variables.more', { value: 1 })],
  ['a condition that holds', /^checks: /, (copy) => put(failed(copy)[0], 'status', 'pass')],
  ['another reason of a condition', /^checks: /, (copy) => put(failed(copy)[1], 'problems.0.message', 'none')],
  ['no conditions', /^checks: /, (copy) => put(copy, 'checks', undefined)],
  ['another cause', /^relevant_attributes: /, (copy) => put(copy, 'relevant_attributes.0.attribute', ['x'])],
  [
    'an output that is not secret',
    /^output sensitive: /,
    (copy) => put(copy, 'output_changes.sensitive.after_sensitive', false),
  ],
  [
    'a member that some programs take for another one',
    /"Resource_changes"/,
    (copy) => put(copy, 'Resource_changes', []),
  ],
  ['the same in a change', /"Actions"/, (copy) => put(of(copy, 'terraform_data.deleted'), 'change.Actions', ['no-op'])],
  ['no state before', /^terraform_data\..*: .*not in prior_state/, (copy) => put(copy, 'prior_state', undefined)],
  [
    'another state before',
    /^terraform_data\.changed: its values in prior_state/,
    (copy) => put(prior(copy, 'terraform_data.changed'), 'values.input', 'x'),
  ],
  [
    'another provider before',
    /^terraform_data\.changed: its provider in prior_state/,
    (copy) => put(prior(copy, 'terraform_data.changed'), 'provider_name', 'x'),
  ],
  [
    'another name before',
    /^terraform_data\.changed: its address in prior_state/,
    (copy) => put(prior(copy, 'terraform_data.changed'), 'name', 'x'),
  ],
  [
    'a resource more before',
    /^x\.y: .*not in the state/,
    (copy) =>
      copy.prior_state.values.root_module.resources.push({ address: 'x.y', mode: 'managed', type: 'x', name: 'y' }),
  ],
  [
    'another output before',
    /^output plain: .*prior_state/,
    (copy) => put(copy, 'prior_state.values.outputs.plain.value', 1),
  ],
  ['no planned values', /not in planned_values/, (copy) => put(copy, 'planned_values', undefined)],
  [
    'another planned output',
    /^output plain: planned_values/,
    (copy) => put(copy, 'planned_values.outputs.plain.value', 1),
  ],
])('the comparison finds %s', (_, message, change) => {
  const copy = copied();
  change(copy);
  expect(difference(file, copy)).toMatch(message);
});

it('the comparison ignores the order of a set with unknown elements', () => {
  const copy = copied();
  of(copy, 'terraform_data.created').change.after.input.set.reverse();
  const { resources } = copy.planned_values.root_module;
  resources.find((one: Json) => one.address === 'terraform_data.created').values.input.set.reverse();
  expect(difference(file, copy)).toBeUndefined();
});

it('the difference names the place without values', () => {
  const copy = copied();
  put(of(copy, 'terraform_data.kept'), input, 'hunter2');
  expect(difference(file, copy)).toBe('terraform_data.kept: values after are not the same (input)');
});
