/**
 * Names of each kind of item in AWS's price lists (AWS Price List API: GetProducts). Usage types start with a code
 * for the region, so they are matched by their ends.
 */

export interface Product {
  service: string;
  /** Attribute → value; the region is added. */
  filters: Record<string, string>;
  /** Selects among the found products by usage type. */
  usage: RegExp;
  /** Number of our units in one unit of the list. */
  per?: number;
}

const engines: Record<string, string> = {
  mysql: 'MySQL',
  mariadb: 'MariaDB',
  postgres: 'PostgreSQL',
  'aurora-mysql': 'Aurora MySQL',
  'aurora-postgresql': 'Aurora PostgreSQL',
};
const cacheEngines: Record<string, string> = { redis: 'Redis', memcached: 'Memcached', valkey: 'Valkey' };
const singleAz = { deploymentOption: 'Single-AZ' };
const anyEngine = { ...singleAz, databaseEngine: 'Any' };

const machine = (instanceType: string, tenancy: string, usage: RegExp): Product => ({
  service: 'AmazonEC2',
  filters: { instanceType, tenancy, operatingSystem: 'Linux', preInstalledSw: 'NA', capacitystatus: 'Used' },
  usage,
});

const product = (
  service: string,
  productFamily: string,
  usage: RegExp,
  filters: Record<string, string> = {},
): Product => ({
  service,
  filters: { productFamily, ...filters },
  usage,
});

const ebs: Record<string, Product> = {
  'gp3-iops': product('AmazonEC2', 'System Operation', /EBS:VolumeP-IOPS\.gp3$/, { volumeApiName: 'gp3' }),
  'io1-iops': product('AmazonEC2', 'System Operation', /EBS:VolumeP-IOPS\.piops$/, { volumeApiName: 'io1' }),
  'io2-iops': product('AmazonEC2', 'System Operation', /EBS:VolumeP-IOPS\.io2$/, { volumeApiName: 'io2' }),
  'gp3-throughput': {
    ...product('AmazonEC2', 'Provisioned Throughput', /EBS:VolumeP-Throughput\.gp3$/, { volumeApiName: 'gp3' }),
    per: 1024,
  },
};

const rdsStorage: Record<string, Product> = {
  gp2: product('AmazonRDS', 'Database Storage', /RDS:GP2-Storage$/, { ...anyEngine, volumeType: 'General Purpose' }),
  gp3: product('AmazonRDS', 'Database Storage', /RDS:GP3-Storage$/, {
    ...anyEngine,
    volumeType: 'General Purpose-GP3',
  }),
  io1: product('AmazonRDS', 'Database Storage', /RDS:PIOPS-Storage$/, { ...anyEngine, volumeType: 'Provisioned IOPS' }),
};

const fargate = (usage: RegExp): Product => product('AmazonECS', 'Compute', usage);
const lambda = (group: string, usage: RegExp): Product => product('AWSLambda', 'Serverless', usage, { group });

const fixed: Record<string, Product> = {
  'lb/application': product('AWSELB', 'Load Balancer-Application', /(^|-)LoadBalancerUsage$/),
  'lb/network': product('AWSELB', 'Load Balancer-Network', /(^|-)LoadBalancerUsage$/),
  'lb/gateway': product('AWSELB', 'Load Balancer-Gateway', /(^|-)LoadBalancerUsage$/),
  'lb/classic': product('AWSELB', 'Load Balancer', /(^|-)LoadBalancerUsage$/),
  'nat/gateway': product('AmazonEC2', 'NAT Gateway', /(^|-)NatGateway-Hours$/),
  'vpc-endpoint/interface': product('AmazonVPC', 'VpcEndpoint', /(^|-)VpcEndpoint-Hours$/),
  'eks/cluster': product('AmazonEKS', 'Compute', /AmazonEKS-Hours:perCluster$/),
  'fargate/vcpu': fargate(/(^|-)Fargate-vCPU-Hours:perCPU$/),
  'fargate/gb': fargate(/(^|-)Fargate-GB-Hours$/),
  'fargate/vcpu-arm': fargate(/(^|-)Fargate-ARM-vCPU-Hours:perCPU$/),
  'fargate/gb-arm': fargate(/(^|-)Fargate-ARM-GB-Hours$/),
  'lambda/requests': lambda('AWS-Lambda-Requests', /(^|-)Request$/),
  'lambda/gb-second': lambda('AWS-Lambda-Duration', /(^|-)Lambda-GB-Second$/),
  'lambda/gb-second-arm': lambda('AWS-Lambda-Duration-ARM', /(^|-)Lambda-GB-Second-ARM$/),
  's3/standard': product('AmazonS3', 'Storage', /(^|-)TimedStorage-ByteHrs$/, { volumeType: 'Standard' }),
};

const own = <T>(table: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Undefined for items that only the price file contains. */
export const productOf = (item: string): Product | undefined => {
  const [kind, detail = '', option = ''] = item.split('/');
  switch (kind) {
    case 'ec2':
      return machine(detail, 'Shared', /(^|-)BoxUsage:/);
    case 'ec2-dedicated':
      return machine(detail, 'Dedicated', /(^|-)DedicatedUsage:/);
    case 'ebs':
      return own(ebs, detail) ?? product('AmazonEC2', 'Storage', /EBS:VolumeUsage/, { volumeApiName: detail });
    case 'rds': {
      const databaseEngine = own(engines, detail);
      const filters = { ...singleAz, instanceType: option, databaseEngine: databaseEngine ?? '' };
      return databaseEngine ? product('AmazonRDS', 'Database Instance', /(^|-)InstanceUsage:/, filters) : undefined;
    }
    case 'rds-storage':
      return own(rdsStorage, detail);
    case 'elasticache': {
      const cacheEngine = own(cacheEngines, detail);
      const filters = { instanceType: option, cacheEngine: cacheEngine ?? '' };
      return cacheEngine ? product('AmazonElastiCache', 'Cache Instance', /(^|-)NodeUsage:/, filters) : undefined;
    }
    default:
      return own(fixed, item);
  }
};
