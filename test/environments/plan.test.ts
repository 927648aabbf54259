import { expect, it } from 'vitest';
import { checkExternalAuth, type Plan, parametersIn, presetsIn, resourcesIn } from '#environments/templates/plan.ts';
import { declaredVariables, frozenVariables, startCount } from '#environments/templates/variables.ts';

const data = (type: string, name: string, values: Record<string, unknown>) => ({
  address: `data.${type}.${name}`,
  mode: 'data' as const,
  type,
  name,
  values,
});
const planOf = (...resources: ReturnType<typeof data>[]): Plan => ({
  prior_state: { values: { root_module: { child_modules: [{ resources }] } } },
});

it('an import reads parameters in order, with limits only where they apply', () => {
  const found = parametersIn(
    planOf(
      data('coder_workspace', 'me', { name: 'me' }),
      data('coder_parameter', 'b', {
        name: 'b',
        order: 2,
        type: 'number',
        default: '3',
        optional: true,
        mutable: true,
        ephemeral: true,
        validation: [{ min: 0, max: 9, max_disabled: true }],
      }),
      data('coder_parameter', 'y', { name: 'y', order: 1 }),
      data('coder_parameter', 'z', { name: 'Z' }),
      data('coder_parameter', 'x', { name: 'x' }),
      data('coder_parameter', 'a', {
        name: 'a',
        order: 0,
        default: null,
        optional: false,
        option: [{ name: 'A', value: 'x' }],
      }),
    ),
  );
  expect(found.map(({ name }) => name)).toEqual(['a', 'x', 'Z', 'y', 'b']);
  expect(found[0]).toMatchObject({
    required: true,
    mutable: false,
    ephemeral: false,
    defaultValue: '',
    type: 'string',
    options: [{ name: 'A', value: 'x' }],
  });
  expect(found[4]).toMatchObject({ required: false, mutable: true, ephemeral: true, min: 0 });
  expect(found[4]).not.toHaveProperty('max');
});

it('an import fails on duplicate names, two defaults, and external sign-in', () => {
  const twice = planOf(data('coder_parameter', 'a', { name: 'a' }), data('coder_parameter', 'b', { name: 'a' }));
  expect(() => parametersIn(twice)).toThrow('must be unique');
  const defaults = planOf(
    data('coder_workspace_preset', 'a', { name: 'a', default: true }),
    data('coder_workspace_preset', 'b', { name: 'b', default: true }),
  );
  expect(() => presetsIn(defaults, (name) => name)).toThrow('marked as default, but a, b are');
  const same = ['a', 'b'].map((address) => data('coder_workspace_preset', address, { name: 'same' }));
  expect(() => presetsIn(planOf(...same), (name) => name)).toThrow('"same" appears several times');
  const auth = (optional?: boolean) => planOf(data('coder_external_auth', 'g', { id: 'github', optional }));
  expect(() => checkExternalAuth(auth())).toThrow('github');
  expect(() => checkExternalAuth(auth(true))).not.toThrow();
});

it('an import lists managed resources with their metadata, without agents and secrets', () => {
  const managed = (type: string, name: string, values = {}) => ({
    address: `${type}.${name}`,
    mode: 'managed' as const,
    type,
    name,
    values,
  });
  const expressions = { resource_id: { references: ['terraform_data.home.id', 'terraform_data.home'] } };
  const plan: Plan = {
    planned_values: {
      root_module: {
        resources: [
          managed('terraform_data', 'home'),
          managed('coder_metadata', 'of_nothing', { icon: '/i.svg' }),
          managed('coder_agent', 'main'),
          managed('coder_metadata', 'm', {
            daily_cost: 3,
            hide: true,
            item: [
              { key: 'k', value: 's', sensitive: true },
              { key: 'p', value: 'v' },
              { key: 'n', is_null: true },
            ],
          }),
        ],
        child_modules: [
          {
            resources: ['terraform_data.home', 'coder_metadata.m'].map((address) => {
              const [type = '', name = ''] = address.split('.');
              return { ...managed(type, name, { daily_cost: 5 }), address: `module.sub[0].${address}` };
            }),
          },
        ],
      },
    },
    configuration: {
      root_module: {
        resources: [
          {
            address: 'coder_metadata.m',
            type: 'coder_metadata',
            name: 'm',
            expressions,
          },
        ],
        module_calls: {
          sub: {
            module: { resources: [{ address: 'coder_metadata.m', type: 'coder_metadata', name: 'm', expressions }] },
          },
        },
      },
    },
  };
  expect(resourcesIn(plan)).toEqual([
    {
      type: 'terraform_data',
      name: 'home',
      hide: true,
      icon: '',
      dailyCost: 3,
      metadata: [
        { key: 'k', value: '', sensitive: true },
        { key: 'p', value: 'v', sensitive: false },
      ],
    },
    { type: 'terraform_data', name: 'home', hide: false, icon: '', dailyCost: 5, metadata: [] },
  ]);
});

it('an import reads the pools of presets, with their schedules and the age of their environments', () => {
  const plan = planOf(
    data('coder_workspace_preset', 'a', {
      name: 'small',
      icon: '/i.svg',
      default: true,
      parameters: { size: 1, none: null },
      prebuilds: [
        {
          instances: 1,
          expiration_policy: [{ ttl: 3600 }],
        },
      ],
    }),
    data('coder_workspace_preset', 'c', {
      name: 'timed',
      prebuilds: [
        { scheduling: [{ timezone: 'Europe/Dublin', schedule: [{ cron: '* 9-17 * * 1-5', instances: 5 }] }] },
      ],
    }),
    data('coder_workspace_preset', 'b', { name: 'plain', prebuilds: [{ instances: 0 }] }),
  );
  expect(presetsIn(plan, (name) => `id of ${name}`)).toEqual([
    {
      id: 'id of small',
      name: 'small',
      description: '',
      icon: '/i.svg',
      isDefault: true,
      parameters: { size: '1', none: '' },
      instances: 1,
      ttlMs: 3_600_000,
    },
    {
      ...{ id: 'id of timed', name: 'timed', description: '', icon: '', isDefault: false, parameters: {} },
      instances: 0,
      scheduled: [{ cron: '* 9-17 * * 1-5', zone: 'Europe/Dublin', instances: 5 }],
    },
    { id: 'id of plain', name: 'plain', description: '', icon: '', isDefault: false, parameters: {} },
  ]);
});

it('declared variables keep their types, and sensitive values of a run are encrypted', () => {
  const text = `
    variable "plain" { default = "a" }
    variable "list" {
      type        = list( string )
      description = "some"
    }
    variable "start_count" { default = 1 }
    output "none" {}
  `;
  const file = (name: string, content: string) => ({ name, content: Buffer.from(content) });
  const declared = declaredVariables([file('main.tf', text), file('sub/x.tf', 'variable "x" {}'), file('y.txt', text)]);
  expect(declared).toMatchObject([
    { name: 'plain', type: '', defaultValue: 'a', required: false, sensitive: false },
    { name: 'list', type: 'list( string )', description: 'some', required: true },
    { name: 'start_count', defaultValue: '1', required: false },
  ]);
  const [plain, list] = declared.map((variable) => ({ ...variable, value: 'v' }));
  const sealed = { ...declared[0], name: 's', sensitive: true, sealed: Buffer.from('x') };
  expect(frozenVariables('v1', [plain, list, declared[2], sealed] as never)).toEqual([
    { key: 'plain', value: 'v', category: 'terraform', hcl: false, sensitive: false },
    { key: 'list', value: 'v', category: 'terraform', hcl: true, sensitive: false },
    expect.objectContaining({
      ...{ key: 's', sealed: 'eA==', sensitive: true, context: { 'template-version': 'v1', name: 's' } },
    }),
  ]);
  const counts = [true, false].flatMap((starts) => startCount(declared, starts));
  expect(counts).toMatchObject(['1', '0'].map((value) => ({ value, hcl: false, sensitive: false })));
  expect(startCount(declared.slice(0, 1), true)).toEqual([]);
});
