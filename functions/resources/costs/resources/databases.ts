import { type Bill, UnpricedError, type Values } from '../bill.ts';
import type { Pricer } from './pricer.ts';

/** RDS and ElastiCache (RDS pricing, ElastiCache pricing). */

const noUsage = 'no backups beyond the free ones, no I/O requests, no data transfer';

/** For these engines, a second availability zone doubles the list prices, apart from rounding. */
const doubledByMultiAz = ['mysql', 'mariadb', 'postgres'];

/** From this size on gp3 is striped over four volumes, whose baseline is included in the price. */
const striped = 400;

const billStorage = (bill: Bill, values: Values, copies: number): void => {
  const iops = values.number('iops') ?? 0;
  const type = values.text('storage_type') ?? (iops > 0 ? 'io1' : 'gp2');
  const size = values.needNumber('allocated_storage');
  if (!['gp2', 'gp3', 'io1', 'standard'].includes(type)) {
    throw new UnpricedError(`no price for storage of type ${type.slice(0, 40)}`);
  }
  bill.monthly(`rds-storage/${type}`, size * copies);
  if (type === 'io1') bill.monthly('rds-iops/io1', iops * copies);
  if (type === 'gp3') {
    const included = size >= striped ? { iops: 12_000, throughput: 500 } : { iops: 3_000, throughput: 125 };
    const throughput = values.number('storage_throughput') ?? 0;
    bill.monthly('rds-iops/gp3', Math.max(0, iops - included.iops) * copies);
    bill.monthly('rds-throughput/gp3', Math.max(0, throughput - included.throughput) * copies);
  }
};

const dbInstance: Pricer = (values, bill) => {
  const engine = values.needText('engine');
  if (engine.startsWith('aurora')) {
    bill.hourly(`rds/${engine}/${values.needText('instance_class')}`);
    bill.assume(noUsage);
    return;
  }
  const multiAz = values.flag('multi_az');
  if (values.isUnknown('multi_az')) bill.assume('one availability zone');
  if (multiAz && !doubledByMultiAz.includes(engine)) {
    throw new UnpricedError(`no price for ${engine.slice(0, 40)} in several availability zones`);
  }
  const copies = multiAz ? 2 : 1;
  if (multiAz) bill.assume('Multi-AZ at twice the price of one zone');
  bill.hourly(`rds/${engine}/${values.needText('instance_class')}`, copies);
  billStorage(bill, values, copies);
  bill.assume(noUsage);
};

/** Aurora's storage is billed by usage, which plans do not contain. */
const clusterInstance: Pricer = (values, bill) => {
  const instanceClass = values.needText('instance_class');
  if (instanceClass === 'db.serverless') throw new UnpricedError('the cost of Aurora Serverless depends on its usage');
  bill.hourly(`rds/${values.needText('engine')}/${instanceClass}`);
  bill.assume('no storage and no I/O requests of the cluster');
};

const cacheNode = (values: Values, bill: Bill, engine: string, count: number): void => {
  bill.hourly(`elasticache/${engine}/${values.needText('node_type')}`, count);
  bill.assume('no backups, no data transfer');
};

const cacheCluster: Pricer = (values, bill) => {
  cacheNode(values, bill, values.needText('engine'), values.number('num_cache_nodes') ?? 1);
};

const replicationGroup: Pricer = (values, bill) => {
  const groups = values.number('num_node_groups');
  const replicas = values.number('replicas_per_node_group');
  const count =
    groups !== undefined && replicas !== undefined
      ? groups * (1 + replicas)
      : (values.number('num_cache_clusters') ?? values.number('number_cache_clusters') ?? 1);
  cacheNode(values, bill, values.text('engine') ?? 'redis', count);
};

export const databases: Record<string, Pricer> = {
  aws_db_instance: dbInstance,
  aws_rds_cluster_instance: clusterInstance,
  aws_elasticache_cluster: cacheCluster,
  aws_elasticache_replication_group: replicationGroup,
};
