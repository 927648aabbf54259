import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { Aws } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { acknowledgeWildcard } from './acknowledge.ts';
import { lastingPrefixes } from './bucket-rules.ts';

export interface ReplicationProps {
  bucket: s3.Bucket;
  key: kms.IKey;
  replicaBucketArn: string;
  replicaKeyArn: string;
}

/** Id of the rule of a prefix, a dimension of its metrics. */
export const replicationRule = (prefix: string): string => `copy-${prefix}`;

/** Within which S3 replicates 99.99% of new objects (S3: Replication Time Control). */
const minutes = 15;

/**
 * Copies new objects that never expire into another bucket: with their times, which Recover finds states by. Deletions are
 * not copied, so that no user of this account can delete the copies.
 */
export class Replication extends Construct {
  readonly role: iam.Role;

  constructor(scope: Construct, id: string, props: ReplicationProps) {
    super(scope, id);
    this.role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('s3.amazonaws.com'),
      description: 'Stepform: S3 copies objects that never expire into the replica bucket',
    });
    // A policy of its own: the bucket needs the role, and the policy the bucket.
    const policy = new iam.Policy(this, 'Copy', { roles: [this.role], statements: statementsOf(props) });
    for (const prefix of lastingPrefixes)
      for (const objects of [props.bucket.arnForObjects(`${prefix}/*`), `${props.replicaBucketArn}/${prefix}/*`])
        acknowledgeWildcard(policy, objects, 'Keys below a prefix contain ids.');
    (props.bucket.node.defaultChild as s3.CfnBucket).replicationConfiguration = {
      role: this.role.roleArn,
      rules: lastingPrefixes.map((prefix, priority) => ruleOf(props, prefix, priority)),
    };
  }
}

/** The rights that S3 documents (S3: replicating encrypted objects), without deletions, tags and a change of owner. */
const statementsOf = ({ bucket, key, replicaBucketArn, replicaKeyArn }: ReplicationProps): iam.PolicyStatement[] => {
  const viaS3In = (region: string | undefined) => ({ 'kms:ViaService': `s3.${region}.amazonaws.com` });
  return [
    new iam.PolicyStatement({
      actions: ['s3:GetReplicationConfiguration', 's3:ListBucket'],
      resources: [bucket.bucketArn],
    }),
    new iam.PolicyStatement({
      actions: ['s3:GetObjectVersionForReplication', 's3:GetObjectVersionAcl'],
      resources: lastingPrefixes.map((prefix) => bucket.arnForObjects(`${prefix}/*`)),
    }),
    new iam.PolicyStatement({
      actions: ['s3:ReplicateObject'],
      resources: lastingPrefixes.map((prefix) => `${replicaBucketArn}/${prefix}/*`),
    }),
    new iam.PolicyStatement({
      actions: ['kms:Decrypt'],
      resources: [key.keyArn],
      conditions: { StringEquals: { ...viaS3In(Aws.REGION), 'kms:EncryptionContext:aws:s3:arn': bucket.bucketArn } },
    }),
    new iam.PolicyStatement({
      // Decrypt verifies a bucket key before its use (S3: bucket keys and replication).
      actions: ['kms:Encrypt', 'kms:Decrypt'],
      resources: [replicaKeyArn],
      conditions: {
        StringEquals: viaS3In(replicaKeyArn.split(':')[3]),
        StringLike: { 'kms:EncryptionContext:aws:s3:arn': [replicaBucketArn, `${replicaBucketArn}/*`] },
      },
    }),
  ];
};

const ruleOf = (
  { replicaBucketArn, replicaKeyArn }: ReplicationProps,
  prefix: string,
  priority: number,
): s3.CfnBucket.ReplicationRuleProperty => ({
  id: replicationRule(prefix),
  status: 'Enabled',
  priority,
  filter: { prefix: `${prefix}/` },
  deleteMarkerReplication: { status: 'Disabled' },
  sourceSelectionCriteria: { sseKmsEncryptedObjects: { status: 'Enabled' } },
  destination: {
    bucket: replicaBucketArn,
    encryptionConfiguration: { replicaKmsKeyId: replicaKeyArn },
    replicationTime: { status: 'Enabled', time: { minutes } },
    metrics: { status: 'Enabled', eventThreshold: { minutes } },
  },
});
