import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledge } from './acknowledge.ts';

/** What is kept stays when the stack goes, but not when the deployment that made it fails: the next one would find it in its way. */
export const removalPolicy = ({ removalPolicy }: Settings): RemovalPolicy =>
  removalPolicy === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;

/** By prefixes of functions/platform/store/keys.ts `objects`; never of `states` and `policies`, which are needed however old. */
const expiries = ({ configurationRetentionDays, runRetentionDays }: Settings): s3.LifecycleRule[] => {
  const after = (days: number | undefined, ...prefixes: string[]): s3.LifecycleRule[] =>
    days === undefined
      ? []
      : prefixes.map((prefix) => ({ id: `old-${prefix}`, prefix: `${prefix}/`, expiration: Duration.days(days) }));
  return [
    ...after(configurationRetentionDays, 'configurations'),
    ...after(runRetentionDays, 'runs', 'inputs', 'outcomes'),
  ];
};

/** The one table, the one bucket, and the key that both and the secrets in them are encrypted with. */
export class Storage extends Construct {
  readonly table: dynamodb.Table;
  readonly bucket: s3.Bucket;
  readonly key: kms.Key;

  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const keep = removalPolicy(settings);

    this.key = new kms.Key(this, 'Key', {
      description: 'Stepform: table, bucket and sensitive variables',
      enableKeyRotation: true,
      // A single-region key can never become a multi-region key, which a table in another region needs (KMS: multi-Region keys).
      multiRegion: true,
      rotationPeriod: Duration.days(settings.keyRotationDays),
      removalPolicy: keep,
    });

    this.bucket = this.#bucket(settings, keep);
    this.table = this.#table(settings, keep);
    // Made last, so that no deployment that fails has to take a protected table back.
    this.table.node.addDependency(this.bucket);
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
      // The web page reads plans and states and uploads configurations itself, by presigned URLs. Only who has such a URL
      // gets anything, and no cookie is involved: the origin, which differs with domain and proxy, would protect nothing.
      cors: [
        {
          allowedOrigins: ['*'],
          allowedMethods: [s3.HttpMethods.GET, s3.HttpMethods.PUT],
          allowedHeaders: ['content-type'],
          maxAge: 3600,
        },
      ],
      removalPolicy: keep,
      lifecycleRules: [
        // State versions are objects of their own, so an old version of an object is only what a mistake overwrote.
        { id: 'old-versions', noncurrentVersionExpiration: Duration.days(90), expiredObjectDeleteMarker: true },
        { id: 'broken-uploads', abortIncompleteMultipartUploadAfter: Duration.days(2) },
        // What was accepted of them is a copy; what was not is of no use.
        {
          id: 'uploads',
          prefix: 'uploads/',
          expiration: Duration.days(7),
          noncurrentVersionExpiration: Duration.days(1),
        },
        // Fetched anew for whoever wants them then (functions/runner/shared-providers).
        {
          id: 'shared-providers',
          prefix: 'providers/',
          expiration: Duration.days(30),
          noncurrentVersionExpiration: Duration.days(1),
        },
        ...expiries(settings),
      ],
    });
    // Set on the resource itself: the construct's `eventBridgeEnabled` brings a function of its own along.
    (bucket.node.defaultChild as s3.CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
    acknowledge(bucket, {
      S1: 'Server access logs are delivered on a best-effort basis and would need a second bucket that idles at a price. Who read or wrote which state is recorded by the API; accounts that need proof per object turn on CloudTrail data events for the bucket.',
    });
    return bucket;
  }
}
