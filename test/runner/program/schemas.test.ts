import { expect, it } from 'vitest';
import { planSchemas } from '#runner/program/schemas.ts';

const schemas = {
  format_version: '1.0',
  provider_schemas: {
    p: {
      provider: { version: 3 },
      resource_schemas: { changed: { version: 1 }, nested: { version: 2 }, unused: {} },
      data_source_schemas: { read: { version: 4 }, changed: {} },
      functions: { f: {} },
    },
    unused: { provider: {}, resource_schemas: { changed: {} } },
  },
};
const of = (type: string, mode = 'managed') => ({ type, mode, provider_name: 'p' });

it('a plan includes the schemas of all its types, in Terraform’s format', () => {
  const plan = {
    format_version: '1.2',
    resource_changes: [{ ...of('changed'), change: { actions: ['create'] } }],
    planned_values: { root_module: { child_modules: [{ child_modules: [{ resources: [of('nested')] }] }] } },
    prior_state: { values: { root_module: { resources: [of('read', 'data'), of('gone')] } } },
  };
  expect(planSchemas(plan, schemas)).toEqual({
    format_version: '1.0',
    provider_schemas: {
      p: {
        provider: { version: 3 },
        resource_schemas: { changed: { version: 1 }, nested: { version: 2 } },
        data_source_schemas: { read: { version: 4 } },
      },
    },
  });
});

it('an empty plan includes no schemas', () => {
  const none = { format_version: '1.0', provider_schemas: {} };
  expect(planSchemas({ format_version: '1.2' }, schemas)).toEqual(none);
  expect(planSchemas({ format_version: '1.2' }, { format_version: '1.0' })).toEqual(none);
});
