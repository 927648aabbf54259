import { expect, it } from 'vitest';
import { checkExternalAuth, type Plan, parametersIn, presetsIn, resourcesIn } from '#environments/templates/plan.ts';

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
      data('coder_parameter', 'b', {
        name: 'b',
        order: 2,
        type: 'number',
        default: '3',
        optional: true,
        validation: [{ min: 0, max: 9, max_disabled: true }],
      }),
      data('coder_parameter', 'a', {
        name: 'a',
        order: 1,
        default: null,
        optional: false,
        option: [{ name: 'A', value: 'x' }],
      }),
    ),
  );
  expect(found.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(found[0]).toMatchObject({
    required: true,
    defaultValue: '',
    type: 'string',
    options: [{ name: 'A', value: 'x' }],
  });
  expect(found[1]).toMatchObject({ required: false, min: 0 });
  expect(found[1]).not.toHaveProperty('max');
});

it('an import fails on duplicate names, two defaults, and external sign-in', () => {
  const twice = planOf(data('coder_parameter', 'a', { name: 'a' }), data('coder_parameter', 'b', { name: 'a' }));
  expect(() => parametersIn(twice)).toThrow('must be unique');
  const defaults = planOf(
    data('coder_workspace_preset', 'a', { name: 'a', default: true }),
    data('coder_workspace_preset', 'b', { name: 'b', default: true }),
  );
  expect(() => presetsIn(defaults, (name) => name)).toThrow('marked as default');
  expect(() => checkExternalAuth(planOf(data('coder_external_auth', 'g', { id: 'github' })))).toThrow('github');
});

it('an import lists managed resources with their metadata, without agents and secrets', () => {
  const managed = (type: string, name: string, values = {}) => ({
    address: `${type}.${name}`,
    mode: 'managed' as const,
    type,
    name,
    values,
  });
  const plan: Plan = {
    planned_values: {
      root_module: {
        resources: [
          managed('terraform_data', 'home'),
          managed('coder_agent', 'main'),
          managed('coder_metadata', 'm', {
            daily_cost: 3,
            item: [
              { key: 'k', value: 's', sensitive: true },
              { key: 'n', is_null: true },
            ],
          }),
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
            expressions: { resource_id: { references: ['terraform_data.home.id', 'terraform_data.home'] } },
          },
        ],
      },
    },
  };
  expect(resourcesIn(plan)).toEqual([
    {
      type: 'terraform_data',
      name: 'home',
      hide: false,
      icon: '',
      dailyCost: 3,
      metadata: [{ key: 'k', value: '', sensitive: true }],
    },
  ]);
});
