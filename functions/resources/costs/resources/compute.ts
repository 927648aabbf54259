import { Bill, UnpricedError, type Values } from '../bill.ts';
import type { Pricer, Related } from './pricer.ts';
import { billBlockDevice, billRootVolume, billVolume } from './volumes.ts';

/** EC2 machines and their volumes (EC2 on-demand pricing, EBS pricing). */

const linux = 'Linux, on demand';

/** Bills one hour of a machine. @throws {UnpricedError} when its type has no hourly price */
export const billInstance = (bill: Bill, type: string, tenancy = 'default'): void => {
  if (tenancy === 'host') throw new UnpricedError('its dedicated host is billed, not the instance');
  bill.hourly(tenancy === 'dedicated' ? `ec2-dedicated/${type}` : `ec2/${type}`);
  bill.assume(linux);
};

const refuseSpot = (values: Values): void => {
  const market = values.block('instance_market_options')?.text('market_type');
  if (market === 'spot' || values.text('spot_price')) throw new UnpricedError('spot prices change all the time');
};

const instance: Pricer = (values, bill, related) => {
  refuseSpot(values);
  const template = values.text('instance_type') ? undefined : related('launch_template', 'aws_launch_template');
  billInstance(bill, (template ?? values).needText('instance_type'), values.text('tenancy'));
  billRootVolume(bill, values.block('root_block_device'));
  for (const block of values.blocks('ebs_block_device')) billBlockDevice(bill, block);
};

const volume: Pricer = (values, bill) => {
  billVolume(bill, values.text('type') ?? 'gp2', values, values.needNumber('size'));
};

/** One machine of a launch template. */
const fromTemplate = (template: Values, region: string): Bill => {
  refuseSpot(template);
  const bill = new Bill(region);
  billInstance(bill, template.needText('instance_type'), template.block('placement')?.text('tenancy'));
  const disks = template.blocks('block_device_mappings').flatMap((mapping) => mapping.blocks('ebs'));
  for (const disk of disks) billBlockDevice(bill, disk);
  if (disks.length === 0) billRootVolume(bill, undefined);
  return bill;
};

/** One machine of a launch configuration, which has the blocks of an instance. */
const fromConfiguration = (configuration: Values, region: string): Bill => {
  refuseSpot(configuration);
  const bill = new Bill(region);
  billInstance(bill, configuration.needText('instance_type'), configuration.text('placement_tenancy'));
  billRootVolume(bill, configuration.block('root_block_device'));
  for (const block of configuration.blocks('ebs_block_device')) billBlockDevice(bill, block);
  return bill;
};

const machineOf = (region: string, related: Related): Bill => {
  const template = related('launch_template', 'aws_launch_template');
  if (template) return fromTemplate(template, region);
  const configuration = related('launch_configuration', 'aws_launch_configuration');
  if (configuration) return fromConfiguration(configuration, region);
  throw new UnpricedError('its launch template is not in the plan');
};

const autoscalingGroup: Pricer = (values, bill, related) => {
  if (values.block('mixed_instances_policy')) throw new UnpricedError('it mixes instance types');
  const desired = values.number('desired_capacity');
  const count = desired ?? values.needNumber('min_size');
  if (desired === undefined) bill.assume('as many machines as min_size');
  bill.add(machineOf(bill.region, related), count);
};

export const compute: Record<string, Pricer> = {
  aws_instance: instance,
  aws_ebs_volume: volume,
  aws_autoscaling_group: autoscalingGroup,
};
