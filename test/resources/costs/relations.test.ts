import { describe, expect, it } from 'vitest';
import { detailsOf } from '#resources/costs/details.ts';
import { type Change, estimateOf, inRegion, planOf } from './support.ts';

type Json = Record<string, unknown>;

const configured = (resources: Json[], moduleCalls: Json = {}) => ({
  configuration: { ...inRegion('us-east-1'), root_module: { resources, module_calls: moduleCalls } },
});
const refers = (type: string, attribute: string, ...references: string[]): Json => ({
  type,
  name: 'this',
  provider_config_key: 'aws',
  expressions: { [attribute]: [{ id: { references } }] },
});
const result = (changes: Change[], more: Json) => {
  const { matched, unmatched } = detailsOf(estimateOf(planOf(changes, more)));
  return [...matched.map((one) => one['proposed-monthly-cost']), ...unmatched.map(({ reason }) => reason)].filter(
    (one) => one !== '0.0',
  );
};

const template = (more: Partial<Change> = {}): Change => ({
  type: 'aws_launch_template',
  name: 'web',
  after: {
    name: 'web',
    instance_type: 'm5.large',
    block_device_mappings: [{ device_name: '/dev/xvda', ebs: [{ volume_size: 50, volume_type: 'gp3' }] }],
  },
  unknown: { id: true },
  ...more,
});
const group = (after: Json = {}, more: Partial<Change> = {}): Change => ({
  type: 'aws_autoscaling_group',
  after: { desired_capacity: 3, launch_template: [{}], ...after },
  unknown: { launch_template: [{ id: true }] },
  ...more,
});
// 3 × (0.096 × 730 + 50 × 0.08)
const threeMachines = '222.24';
const toTemplate = refers(
  'aws_autoscaling_group',
  'launch_template',
  'aws_launch_template.web.id',
  'aws_launch_template.web',
);

describe('an autoscaling group', () => {
  it('costs the machines of its launch template, however it refers to it', () => {
    expect(result([template(), group()], configured([toTemplate]))).toEqual([threeMachines]);
    const named = group({ launch_template: [{ name: 'web' }] });
    expect(result([template(), named], configured([]))).toEqual([threeMachines]);
    const launchTemplate = template({ after: { ...template().after, id: 'lt-1' } });
    expect(result([launchTemplate, group({ launch_template: [{ id: 'lt-1' }] })], configured([]))).toEqual([
      threeMachines,
    ]);
  });

  it('takes the template of its own module instance and index', () => {
    const modules = ['module.a[0]', 'module.a[1]'];
    const small = { ...template().after, instance_type: 't3.micro' };
    const changes = modules.flatMap((module, i) => [
      template({ module, after: i ? small : template().after }),
      group({}, { module }),
    ]);
    const more = configured([], { a: { module: { resources: [toTemplate] } } });
    // 3 × (0.0104 × 730 + 50 × 0.08)
    expect(result(changes, more)).toEqual([threeMachines, '34.776']);
    const each = [0, 1].flatMap((index) => [
      template({ index, after: index ? small : template().after }),
      group({}, { index }),
    ]);
    expect(result(each, configured([toTemplate]))).toEqual([threeMachines, '34.776']);
  });

  it('can have a launch configuration', () => {
    const configuration: Change = {
      type: 'aws_launch_configuration',
      after: { name: 'old', instance_type: 't3.micro', root_block_device: [{ volume_size: 10, volume_type: 'gp2' }] },
    };
    const old: Change = { type: 'aws_autoscaling_group', after: { min_size: 2, launch_configuration: 'old' } };
    // 2 × (0.0104 × 730 + 10 × 0.1)
    expect(result([configuration, old], configured([]))).toEqual(['17.184']);
  });

  it('is unmatched where a single price would mislead', () => {
    const reasons = (after: Json) => result([template(), group(after)], configured([toTemplate]));
    expect(reasons({ mixed_instances_policy: [{}] })).toEqual(['it mixes instance types']);
    const spot = template({ after: { ...template().after, instance_market_options: [{ market_type: 'spot' }] } });
    expect(result([spot, group()], configured([toTemplate]))).toEqual(['spot prices change all the time']);
  });
});

describe('an ECS service', () => {
  const task = (after: Json = {}): Change => ({
    type: 'aws_ecs_task_definition',
    name: 'app',
    after: { family: 'app', cpu: '256', memory: '512', requires_compatibilities: ['FARGATE'], ...after },
    unknown: { arn: true },
  });
  const service = (after: Json = {}): Change => ({
    type: 'aws_ecs_service',
    after: { desired_count: 2, launch_type: 'FARGATE', ...after },
    unknown: { task_definition: true },
  });
  const toTask: Json = {
    type: 'aws_ecs_service',
    name: 'this',
    expressions: {
      task_definition: { references: ['aws_ecs_task_definition.app.arn', 'aws_ecs_task_definition.app'] },
    },
  };
  const cost = (taskAfter?: Json, serviceAfter?: Json) =>
    result([task(taskAfter), service(serviceAfter)], configured([toTask]));

  it.each<[string, Json, Json, string[]]>([
    // 2 × (0.25 × 0.04048 + 0.5 × 0.004445) × 730
    ['on Fargate', {}, {}, ['18.0201']],
    ['on ARM', { runtime_platform: [{ cpu_architecture: 'ARM64' }] }, {}, ['14.4175']],
    // + 2 × 30 × 0.000111 × 730
    ['with more storage', { ephemeral_storage: [{ size_in_gib: 50 }] }, {}, ['22.8819']],
    [
      'by a capacity provider',
      {},
      { launch_type: null, capacity_provider_strategy: [{ capacity_provider: 'FARGATE' }] },
      ['18.0201'],
    ],
    ['where the task says so', {}, { launch_type: null }, ['18.0201']],
    ['on instances, which are billed instead', {}, { launch_type: 'EC2' }, []],
    ['with nothing running', {}, { desired_count: 0 }, []],
    [
      'on spot',
      {},
      { launch_type: null, capacity_provider_strategy: [{ capacity_provider: 'FARGATE_SPOT' }] },
      ['spot prices change all the time'],
    ],
    [
      'with Windows',
      { runtime_platform: [{ operating_system_family: 'WINDOWS_SERVER_2022_CORE' }] },
      {},
      ['no price for Windows on Fargate'],
    ],
  ])('%s', (_name, taskAfter, serviceAfter, expected) => {
    expect(cost(taskAfter, serviceAfter)).toEqual(expected);
  });

  it('finds its task definition by family and revision', () => {
    const both = [task(), service({ task_definition: 'app:7' })];
    expect(result(both, configured([]))).toEqual(['18.0201']);
  });
});
