import { describe, expect, it } from 'vitest';
import { monthOf } from './support.ts';

/** Prices of us-east-1 in the file; 730 hours. */

const t3micro = { instance_type: 't3.micro' };
const root = (block: object) => ({ ...t3micro, root_block_device: [block] });
const gp3 = { volume_type: 'gp3', volume_size: 100 };

describe('the monthly cost of a resource', () => {
  it.each([
    // 0.0104 × 730 + 8 × 0.08
    ['aws_instance', t3micro, '8.232'],
    // 0.0104 × 730 = 7.592
    ['aws_instance', root(gp3), '15.592'],
    ['aws_instance', { ...root(gp3), ebs_block_device: [{ volume_size: 10 }] }, '16.592'],
    ['aws_instance', { instance_type: 'm5.24xlarge', root_block_device: [gp3] }, '3371.84'],
    ['aws_ebs_volume', { size: 10 }, '1.0'],
    ['aws_ebs_volume', { size: 10, type: 'gp3', iops: 3000, throughput: 125 }, '0.8'],
    // 8 + 1,000 × 0.005 + 125 × 0.04
    ['aws_ebs_volume', { size: 100, type: 'gp3', iops: 4000, throughput: 250 }, '18.0'],
    ['aws_ebs_volume', { size: 100, type: 'io1', iops: 1000 }, '77.5'],
    ['aws_db_instance', { engine: 'mysql', instance_class: 'db.t3.micro', allocated_storage: 20 }, '14.71'],
    [
      'aws_db_instance',
      { engine: 'mysql', instance_class: 'db.t3.micro', allocated_storage: 20, multi_az: true },
      '29.42',
    ],
    // 0.178 × 730 + 400 × 0.115 + 2,000 × 0.02
    [
      'aws_db_instance',
      { engine: 'postgres', instance_class: 'db.m5.large', allocated_storage: 400, storage_type: 'gp3', iops: 14_000 },
      '215.94',
    ],
    ['aws_rds_cluster_instance', { engine: 'aurora-mysql', instance_class: 'db.r6g.large' }, '189.8'],
    ['aws_lb', {}, '16.425'],
    ['aws_alb', { load_balancer_type: 'application' }, '16.425'],
    ['aws_lb', { load_balancer_type: 'network' }, '16.425'],
    ['aws_elb', {}, '18.25'],
    ['aws_nat_gateway', {}, '32.85'],
    ['aws_eip', {}, '3.65'],
    ['aws_vpc_endpoint', { vpc_endpoint_type: 'Interface', subnet_ids: ['a', 'b'] }, '14.6'],
    ['aws_vpc_endpoint', { service_name: 'com.amazonaws.us-east-1.s3' }, '0.0'],
    ['aws_eks_cluster', {}, '73.0'],
    // 2 × (0.0416 × 730 + 20 × 0.08)
    ['aws_eks_node_group', { scaling_config: [{ desired_size: 2 }] }, '63.936'],
    [
      'aws_eks_node_group',
      { instance_types: ['m5.large'], disk_size: 100, scaling_config: [{ desired_size: 1 }] },
      '78.08',
    ],
    ['aws_elasticache_cluster', { engine: 'redis', node_type: 'cache.t3.micro', num_cache_nodes: 1 }, '12.41'],
    [
      'aws_elasticache_replication_group',
      { node_type: 'cache.r6g.large', num_node_groups: 2, replicas_per_node_group: 1 },
      '601.52',
    ],
    ['aws_elasticache_replication_group', { node_type: 'cache.t4g.micro', num_cache_clusters: 2 }, '23.36'],
    // 0.2 + 1,000,000 × 0.1 s × 0.125 GB × 0.0000166667
    ['aws_lambda_function', {}, '0.4083'],
    ['aws_lambda_function', { memory_size: 1024, architectures: ['arm64'] }, '1.5333'],
    ['aws_s3_bucket', {}, '2.3'],
    ['aws_kms_key', {}, '1.0'],
    ['aws_vpc', {}, '0.0'],
    ['aws_iam_role_policy_attachment', {}, '0.0'],
    ['aws_s3_bucket_policy', {}, '0.0'],
  ])('%s %j: %s', (type, after, month) => {
    expect(monthOf(type, after)).toBe(month);
  });
});

describe('a resource without a price', () => {
  it.each([
    ['aws_instance', { instance_type: 'm5.6xlarge' }, /no price for ec2\/m5\.6xlarge in us-east-1/],
    ['aws_instance', { ...t3micro, tenancy: 'host' }, /dedicated host/],
    ['aws_instance', { ...t3micro, tenancy: 'dedicated' }, /no price for ec2-dedicated\/t3\.micro/],
    ['aws_instance', { ...t3micro, instance_market_options: [{ market_type: 'spot' }] }, /spot/],
    ['aws_instance', { ...t3micro, ebs_block_device: [{ snapshot_id: 'snap-1' }] }, /volume_size is missing/],
    ['aws_ebs_volume', { size: 10, type: 'gp9' }, /volumes of type gp9/],
    ['aws_ebs_volume', { size: 10, type: 'io2', iops: 40_000 }, /more than 32000 IOPS/],
    ['aws_ebs_volume', { size: -1 }, /AWS does not sell/],
    ['aws_ebs_volume', { size: 1e300 }, /AWS does not sell/],
    ['aws_db_instance', { engine: 'oracle-ee', instance_class: 'db.m5.large', allocated_storage: 1 }, /rds\/oracle-ee/],
    ['aws_rds_cluster_instance', { engine: 'aurora-mysql', instance_class: 'db.serverless' }, /Serverless/],
    ['aws_eks_node_group', { capacity_type: 'SPOT', scaling_config: [{ desired_size: 1 }] }, /spot/],
    ['aws_eks_node_group', {}, /scaling_config is missing/],
    ['aws_autoscaling_group', { min_size: 1 }, /launch template is not in the plan/],
    ['aws_ecs_service', { launch_type: 'FARGATE', desired_count: 1 }, /task definition is not in the plan/],
    ['aws_redshift_cluster', {}, /do not support resources of type aws_redshift_cluster/],
    ['google_compute_instance', {}, /do not support resources of type google_compute_instance/],
  ])('%s %j', (type, after, reason) => {
    expect(monthOf(type, after)).toMatch(reason);
  });

  it('a reason lists only the values known after apply', () => {
    expect(monthOf('aws_instance', {}, { unknown: { instance_type: true } })).toMatch(/known after apply/);
    expect(monthOf('aws_ebs_volume', { size: null }, { unknown: { size: true } })).toMatch(/known after apply/);
  });

  it('an estimate ignores providers that only affect the local machine', () => {
    const provider = 'terraform.io/builtin/terraform';
    expect(monthOf('terraform_data', {}, { provider })).toBe('0.0');
    expect(monthOf('random_pet', {}, { provider: 'registry.terraform.io/hashicorp/random' })).toBe('0.0');
    expect(monthOf('random_pet', {}, { provider: 'registry.terraform.io/evil/random' })).toMatch(/do not support/);
  });
});
