import { Bill, UnpricedError, type Values } from '../bill.ts';
import { billInstance } from './compute.ts';
import type { Pricer } from './pricer.ts';

/** EKS, and ECS on Fargate (EKS pricing, Fargate pricing). */

const cluster: Pricer = (_values, bill) => {
  bill.hourly('eks/cluster');
  bill.assume('a Kubernetes version in standard support');
};

const defaultNode = { type: 't3.medium', disk: 20 };

const nodeGroup: Pricer = (values, bill, related) => {
  if (values.text('capacity_type') === 'SPOT') throw new UnpricedError('spot prices change all the time');
  const count = values.block('scaling_config')?.needNumber('desired_size');
  if (count === undefined) throw new UnpricedError('scaling_config is missing');
  const template = related('launch_template', 'aws_launch_template');
  const [named] = values.texts('instance_types');
  const type = named ?? (values.block('launch_template') ? template?.needText('instance_type') : defaultNode.type);
  if (!type) throw new UnpricedError('its launch template is not in the plan');
  const node = new Bill(bill.region);
  billInstance(node, type);
  const disk = values.number('disk_size') || defaultNode.disk;
  node.monthly('ebs/gp3', disk);
  node.assume(`nodes with a gp3 volume of ${disk} GiB`);
  bill.add(node, count);
};

/** Ephemeral storage included in the price of a Fargate task, in GiB. */
const includedStorage = 20;

/** One task of a definition for Fargate; sizes are CPU units and MiB. */
const fargateTask = (definition: Values, region: string): Bill => {
  const platform = definition.block('runtime_platform');
  if (platform?.text('operating_system_family')?.startsWith('WINDOWS')) {
    throw new UnpricedError('no price for Windows on Fargate');
  }
  const arm = platform?.text('cpu_architecture') === 'ARM64' ? '-arm' : '';
  const task = new Bill(region);
  task.hourly(`fargate/vcpu${arm}`, definition.needNumber('cpu') / 1024);
  task.hourly(`fargate/gb${arm}`, definition.needNumber('memory') / 1024);
  const storage = definition.block('ephemeral_storage')?.number('size_in_gib') ?? includedStorage;
  task.hourly('fargate/storage', Math.max(0, storage - includedStorage));
  return task;
};

/** The service's launch type; undefined if the plan does not contain it. */
const launchedOn = (values: Values, definition: Values | undefined): 'FARGATE' | 'FARGATE_SPOT' | 'EC2' | undefined => {
  const providers = values.blocks('capacity_provider_strategy').map((strategy) => strategy.text('capacity_provider'));
  if (providers.includes('FARGATE_SPOT')) return 'FARGATE_SPOT';
  if (providers.includes('FARGATE')) return 'FARGATE';
  const type = values.text('launch_type');
  if (type === 'FARGATE' || type === 'EC2') return type;
  if (providers.length > 0 || type) return 'EC2';
  return definition?.texts('requires_compatibilities').includes('FARGATE') ? 'FARGATE' : definition && 'EC2';
};

const service: Pricer = (values, bill, related) => {
  const definition = related('task_definition', 'aws_ecs_task_definition');
  switch (launchedOn(values, definition)) {
    case 'EC2':
      bill.assume('its instances are billed instead');
      return;
    case 'FARGATE_SPOT':
      throw new UnpricedError('spot prices change all the time');
    case undefined:
      throw new UnpricedError('its launch type is not in the plan');
  }
  if (!definition) throw new UnpricedError('its task definition is not in the plan');
  bill.add(fargateTask(definition, bill.region), values.number('desired_count') ?? 0);
};

export const containers: Record<string, Pricer> = {
  aws_eks_cluster: cluster,
  aws_eks_node_group: nodeGroup,
  aws_ecs_service: service,
};
