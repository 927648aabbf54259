import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge } from './acknowledge.ts';
import { type BucketRule, bucketRules } from './bucket-rules.ts';
import type { ExistingData } from './existing-data.ts';
import { Replication } from './replication.ts';

/**
 * Retained when the stack is deleted, but not when the deployment that creates them fails: they would block the next
 * deployment.
 */
export const removalPolicy = ({ removalPolicy }: Settings): RemovalPolicy =>
  removalPolicy === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

const lifecycleRule = ({
  id,
  prefix,
  days,
  oldVersionDays,
  removesMarkers,
  uploadDays,
}: BucketRule): s3.LifecycleRule => {
  const after = (count: number | undefined) => (count === undefined ? undefined : Duration.days(count));
  return {
    id,
    prefix,
    expiration: after(days),
    noncurrentVersionExpiration: after(oldVersionDays),
    expiredObjectDeleteMarker: removesMarkers,
    abortIncompleteMultipartUploadAfter: after(uploadDays),
  };
};

/** The one table, the one bucket, and the key that encrypts both and the stored secrets. */
export interface PlatformStorage {
  table: dynamodb.ITable;
  bucket: s3.IBucket;
  key: kms.IKey;
}

/** @param created the data stack's; absent if all parts exist */
export const existingStorage = (
  scope: Construct,
  { tableName, bucketName, keyArn }: ExistingData,
  created: PlatformStorage | undefined,
): PlatformStorage => {
  const key = keyArn ? kms.Key.fromKeyArn(scope, 'ExistingKey', keyArn) : created?.key;
  const bucket = bucketName ? s3.Bucket.fromBucketName(scope, 'ExistingBucket', bucketName) : created?.bucket;
  const table = tableName ? dynamodb.Table.fromTableName(scope, 'ExistingTable', tableName) : created?.table;
  if (!key || !bucket || !table) throw new Error('no data stack, and not all of tableName, bucketName and keyArn');
  return { key, bucket, table };
};

/** Creates the parts that do not exist yet. */
export class Storage extends Construct implements PlatformStorage {
  readonly table: dynamodb.ITable;
  readonly bucket: s3.IBucket;
  readonly key: kms.IKey;
  replication?: Replication;

  /** @param existing parts of an earlier deployment, encrypted with its key */
  constructor(scope: Construct, id: string, settings: Settings, existing: Partial<PlatformStorage> = {}) {
    super(scope, id);
    const keep = removalPolicy(settings);
    this.key = existing.key ?? this.#key(settings, keep);
    this.bucket = existing.bucket ?? this.#bucket(settings, keep);
    this.table = existing.table ?? this.#table(settings, keep);
  }

  #key({ keyRotationDays }: Settings, keep: RemovalPolicy): kms.Key {
    return new kms.Key(this, 'Key', {
      description: 'Stepform: table, bucket and sensitive variables',
      enableKeyRotation: true,
      // A single-region key can never become a multi-region key, which a table in another region needs (KMS:
      // multi-Region keys).
      multiRegion: true,
      rotationPeriod: Duration.days(keyRotationDays),
      removalPolicy: keep,
    });
  }

  #table(settings: Settings, keep: RemovalPolicy): dynamodb.Table {
    const table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: 'pk', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'sk', type: dynamodb.AttributeType.STRING },
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      timeToLiveAttribute: 'expiresAt',
      deletionProtection: settings.removalPolicy === 'retain',
      removalPolicy: keep,
    });
    table.addGlobalSecondaryIndex({
      indexName: 'due',
      partitionKey: { name: 'dueShard', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'dueAt', type: dynamodb.AttributeType.STRING },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
    table.addGlobalSecondaryIndex({
      indexName: 'changed',
      partitionKey: { name: 'changedIn', type: dynamodb.AttributeType.STRING },
      sortKey: { name: 'changedAt', type: dynamodb.AttributeType.STRING },
      projectionType: dynamodb.ProjectionType.KEYS_ONLY,
    });
    // Created last, so that a failed deployment never has to delete a protected table.
    table.node.addDependency(this.bucket);
    return table;
  }

  #bucket(settings: Settings, keep: RemovalPolicy): s3.Bucket {
    const bucket = new s3.Bucket(this, 'Bucket', {
      versioned: true,
      encryption: s3.BucketEncryption.KMS,
      encryptionKey: this.key,
      bucketKeyEnabled: true,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      // The web page reads plans and states and uploads configurations itself, with presigned URLs. Only clients with
      // such a URL get anything, and no cookie is involved: restricting the origin, which differs by domain and proxy,
      // would protect nothing.
      cors: [
        {
          allowedOrigins: ['*'],
          allowedMethods: [s3.HttpMethods.GET, s3.HttpMethods.PUT],
          allowedHeaders: ['content-type'],
          maxAge: 3600,
        },
      ],
      removalPolicy: keep,
      lifecycleRules: bucketRules(settings).map(lifecycleRule),
    });
    // Set on the resource itself: the construct's `eventBridgeEnabled` would add a function of the CDK.
    (bucket.node.defaultChild as s3.CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
    acknowledge(bucket, {
      S1: 'Server access logs are delivered on a best-effort basis and would need a second bucket that idles at a price. The API records every read and write of a state with its user; accounts that need a record per object turn on CloudTrail data events for the bucket.',
    });
    const { replicaBucketArn, replicaKeyArn } = settings;
    if (replicaBucketArn && replicaKeyArn)
      this.replication = new Replication(this, 'Replication', {
        bucket,
        key: this.key,
        replicaBucketArn,
        replicaKeyArn,
      });
    return bucket;
  }
}
