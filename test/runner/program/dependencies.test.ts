import { describe, expect, it } from 'vitest';
import { dependenciesOf } from '#runner/program/dependencies.ts';

const refers = (...references: string[]) => ({ references });

describe('dependencies of a configuration', () => {
  it('follows references, blocks, counts and depends_on', () => {
    const root_module = {
      resources: [
        { address: 'a.one', expressions: { input: refers('a.two.id', 'a.two') } },
        { address: 'a.two', expressions: { block: [{ inner: refers('data.b.three.id', 'data.b.three') }] } },
        { address: 'data.b.three', count_expression: refers('a.four') },
        { address: 'a.four', depends_on: ['a.five'], expressions: { input: refers('each.key', 'path.module') } },
        { address: 'a.five', expressions: { input: refers('a.five') } },
      ],
    };
    expect(dependenciesOf({ root_module })).toEqual({
      'a.one': ['a.two'],
      'a.two': ['data.b.three'],
      'data.b.three': ['a.four'],
      'a.four': ['a.five'],
    });
  });

  it('follows variables and outputs of modules, and depends_on of whole modules', () => {
    const net = {
      resources: [{ address: 'a.vpc', expressions: { cidr: refers('var.cidr') } }],
      outputs: { id: { expression: refers('a.vpc.id', 'a.vpc') } },
    };
    const root_module = {
      resources: [
        { address: 'a.cidr' },
        { address: 'a.db', expressions: { vpc: refers('module.net.id', 'module.net') } },
        { address: 'a.after', depends_on: ['module.net'] },
      ],
      module_calls: {
        net: { expressions: { cidr: refers('a.cidr.id', 'a.cidr') }, module: net },
        late: { depends_on: ['a.db'], module: { resources: [{ address: 'a.x' }] } },
      },
    };
    expect(dependenciesOf({ root_module })).toEqual({
      'a.db': ['module.net.a.vpc'],
      'a.after': ['module.net.a.vpc'],
      'module.net.a.vpc': ['a.cidr'],
      'module.late.a.x': ['a.db'],
    });
  });

  it('stops at cycles of outputs and variables', () => {
    const child = { outputs: { out: { expression: refers('var.in') } } };
    const root_module = {
      resources: [{ address: 'a.one', expressions: { input: refers('module.m.out', 'module.m') } }],
      module_calls: { m: { expressions: { in: refers('module.m.out', 'module.m') }, module: child } },
    };
    expect(dependenciesOf({ root_module })).toEqual({});
  });
});
