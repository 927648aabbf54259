import * as v from 'valibot';

/** Copies of the data outside of the deployment's region or account. The operator owns vault, bucket and key. */

export const backupEntries = {
  /** An AWS Backup vault in another region or account that gets a copy of the table every day. */
  backupVaultArn: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[\w-]{2,50}$/,
        'must be the ARN of a vault in AWS Backup',
      ),
    ),
  ),
  /** A versioned bucket in another region or account that gets a copy of every object that never expires. */
  replicaBucketArn: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^arn:aws[a-z-]*:s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the ARN of a bucket'),
    ),
  ),
  /** Encrypts these copies; in the region of that bucket. */
  replicaKeyArn: v.optional(
    v.pipe(
      v.string(),
      v.regex(
        /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
        'must be the ARN of a key in KMS (not of an alias)',
      ),
    ),
  ),
};

/** Problems between settings that are each valid. */
export const backupProblems = (settings: Record<string, unknown>): string[] => [
  ...('replicaBucketArn' in settings === 'replicaKeyArn' in settings
    ? []
    : ['replicaBucketArn, replicaKeyArn: set both, or neither']),
  ...('replicaBucketArn' in settings && 'bucketName' in settings
    ? [
        'replicaBucketArn: is replication of the data stack’s bucket; set that of bucketName yourself (aws s3api put-bucket-replication)',
      ]
    : []),
];
