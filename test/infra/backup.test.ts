import { App, Stack as CdkStack } from 'aws-cdk-lib/core';
import { describe, expect, it } from 'vitest';
import { mergeStacks } from '#infra/build/merge-stacks.ts';
import type { Template } from '#infra/build/synth.ts';
import { Stack } from '#infra/local/host/template.ts';
import { readSettings } from '#infra/settings/settings.ts';
import { Stepform } from '#infra/stack/stepform.ts';
import { stackWith } from './stack-with.ts';

/** Copies of the data in another region or account, which an operator chooses. */

const vault = 'arn:aws:backup:eu-west-1:210987654321:backup-vault:stepform';
const replica = {
  replicaBucketArn: 'arn:aws:s3:::elsewhere',
  replicaKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/mrk-0123456789abcdef',
};

interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
  Properties?: any;
  DeletionPolicy?: string;
}
type Resources = Record<string, Resource>;

const synthesized = (context: Record<string, unknown>): { data: Resources; platform: Resources; whole: Template } => {
  const { template, dataTemplate, data } = stackWith(context);
  const [ofData, ofPlatform] = [data ? dataTemplate().toJSON() : { Resources: {} }, template().toJSON()];
  return {
    data: ofData.Resources,
    platform: ofPlatform.Resources,
    whole: mergeStacks(ofData as Template, ofPlatform as Template),
  };
};
const usual = synthesized({});
const added = (with_: Resources, without: Resources): [string, Resource][] =>
  Object.entries(with_).filter(([id]) => !(id in without));
const typesOf = (resources: [string, Resource][]) => resources.map(([, { Type }]) => Type).sort();
const of = (resources: [string, Resource][], type: string): Resource => {
  const [found, ...more] = resources.filter(([, { Type }]) => Type === type);
  if (!found || more.length) throw new Error(`not one ${type}`);
  return found[1];
};
/** Each action with its resources and conditions, references by their logical id. */
const readable = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll(/\{"Fn::GetAtt":\["(\w+?)(?:[0-9A-F]{8})?","\w*Arn"\]\}/g, '"<$1>"')
    .replaceAll(/\{"Fn::ImportValue":"[^"]*?(?:Ref|GetAtt)Storage(\w+?)[0-9A-F]{8}[^"]*"\}/g, '"<$1>"')
    .replaceAll(/\{"Ref":"AWS::(\w+)"\}/g, '"<$1>"')
    .replaceAll(/\{"Fn::Join":\["",\[([^\]]*)\]\]\}/g, (_, parts: string) => `"${parts.replaceAll(/","|^"|"$/g, '')}"`);
const rightsOf = (statements: { Action: string | string[]; Resource: unknown; Condition?: object }[]): string[] =>
  statements.map(
    ({ Action, Resource: on, Condition }) =>
      `${[Action].flat().join(' ')} on ${readable(on)}${Condition ? ` if ${readable(Condition)}` : ''}`,
  );

describe('without settings', () => {
  it('nothing is copied, and nothing is created for it', () => {
    const text = JSON.stringify(usual);
    expect(text).not.toMatch(/AWS::Backup|ReplicationConfiguration|AWS\/Backup|OperationsFailedReplication/);
  });
});

describe('backupVaultArn', () => {
  const { data, platform } = synthesized({ backupVaultArn: vault });
  const created = added(platform, usual.platform);

  it('adds a plan and its role, a vault to copy from, and an alarm; nothing to the data', () => {
    expect(data).toEqual(usual.data);
    expect(typesOf(created)).toEqual([
      'AWS::Backup::BackupPlan',
      'AWS::Backup::BackupSelection',
      'AWS::Backup::BackupVault',
      'AWS::CloudWatch::Alarm',
      'AWS::IAM::Role',
    ]);
    // No function gains a right.
    for (const [id, resource] of Object.entries(usual.platform)) expect(platform[id], id).toEqual(resource);
  });

  it('copies the table, and only the table, every day', () => {
    const [rule, ...more] = of(created, 'AWS::Backup::BackupPlan').Properties.BackupPlan.BackupPlanRule;
    expect(more).toEqual([]);
    expect(rule).toMatchObject({
      ScheduleExpression: 'cron(0 3 * * ? *)',
      Lifecycle: { DeleteAfterDays: 7 },
      CopyActions: [{ DestinationBackupVaultArn: vault, Lifecycle: { DeleteAfterDays: 35 } }],
    });
    const { Resources } = of(created, 'AWS::Backup::BackupSelection').Properties.BackupSelection;
    expect(readable(Resources)).toBe('["<Table>"]');
  });

  it('keeps backups with their own key when the stack is deleted', () => {
    const own = of(created, 'AWS::Backup::BackupVault');
    expect(own).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate' });
    expect(Object.keys(own.Properties)).toEqual(['BackupVaultName']);
  });

  it('gives its role the rights of one table, one key and one destination', () => {
    const role = of(created, 'AWS::IAM::Role').Properties;
    expect(role.AssumeRolePolicyDocument.Statement).toMatchObject([
      { Action: 'sts:AssumeRole', Principal: { Service: 'backup.amazonaws.com' } },
    ]);
    const points = '"arn:<Partition>:backup:*:<AccountId>:recovery-point:*"';
    expect(rightsOf(role.Policies[0].PolicyDocument.Statement)).toEqual([
      'dynamodb:DescribeTable dynamodb:ListTagsOfResource dynamodb:StartAwsBackupJob on "<Table>"',
      'kms:Decrypt kms:GenerateDataKey on "<Key>" if {"StringEquals":{"kms:ViaService":"dynamodb.<Region>.amazonaws.com"}}',
      `backup:DescribeBackupVault on ["<BackupVault>","${vault}"]`,
      `backup:CopyIntoBackupVault on "${vault}"`,
      `backup:CopyFromBackupVault on ${points} if {"ForAnyValue:ArnEquals":{"backup:CopyTargets":"${vault}"}}`,
      `backup:TagResource on ${points}`,
    ]);
  });

  it('has an alarm that fires if copies stay away', () => {
    expect(of(created, 'AWS::CloudWatch::Alarm').Properties).toMatchObject({
      Namespace: 'AWS/Backup',
      MetricName: 'NumberOfCopyJobsCompleted',
      Period: 86_400,
      EvaluationPeriods: 2,
      Threshold: 1,
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
  });

  it('copies an existing table, too', () => {
    const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/mrk-1';
    const existing = synthesized({ backupVaultArn: vault, tableName: 'restored', bucketName: 'objects', keyArn });
    const text = JSON.stringify(of(Object.entries(existing.platform), 'AWS::Backup::BackupSelection'));
    expect(text).toContain(':table/restored');
    const role = Object.entries(existing.platform).find(([id]) => /^BackupRole/.test(id));
    expect(JSON.stringify(role)).toContain(keyArn);
  });
});

describe('replicaBucketArn', () => {
  const { data, platform, whole } = synthesized(replica);
  const created = added(data, usual.data);

  it('adds a role to the data, and an alarm to the platform', () => {
    expect(typesOf(created)).toEqual(['AWS::IAM::Policy', 'AWS::IAM::Role']);
    expect(typesOf(added(platform, usual.platform))).toEqual(['AWS::CloudWatch::Alarm']);
  });

  it('copies what never expires within 15 minutes, and no deletion', () => {
    const { Rules, Role } = of(Object.entries(data), 'AWS::S3::Bucket').Properties.ReplicationConfiguration;
    expect(readable(Role)).toBe('"<StorageReplicationRole>"');
    expect(Rules.map((rule: { Filter: object }) => rule.Filter)).toEqual([
      { Prefix: 'states/' },
      { Prefix: 'policies/' },
      { Prefix: 'registry/' },
    ]);
    expect(new Set(Rules.map(({ Priority }: { Priority: number }) => Priority)).size).toBe(3);
    for (const rule of Rules)
      expect(rule).toMatchObject({
        Status: 'Enabled',
        DeleteMarkerReplication: { Status: 'Disabled' },
        // Without it, S3 skips objects that are encrypted with a key of KMS.
        SourceSelectionCriteria: { SseKmsEncryptedObjects: { Status: 'Enabled' } },
        Destination: {
          Bucket: replica.replicaBucketArn,
          EncryptionConfiguration: { ReplicaKmsKeyID: replica.replicaKeyArn },
          ReplicationTime: { Status: 'Enabled', Time: { Minutes: 15 } },
          Metrics: { Status: 'Enabled', EventThreshold: { Minutes: 15 } },
        },
      });
    // Lifecycle rules of the bucket name every prefix that expires.
    const expiring = of(Object.entries(data), 'AWS::S3::Bucket').Properties.LifecycleConfiguration.Rules;
    for (const { Prefix = '' } of expiring) expect(Prefix).not.toMatch(/^(states|policies|registry)/);
  });

  it('gives its role rights to copy, not to delete or to read the copies', () => {
    expect(of(created, 'AWS::IAM::Role').Properties).not.toHaveProperty('Policies');
    const under = (bucket: string) => `["${bucket}/states/*","${bucket}/policies/*","${bucket}/registry/*"]`;
    expect(rightsOf(of(created, 'AWS::IAM::Policy').Properties.PolicyDocument.Statement)).toEqual([
      's3:GetReplicationConfiguration s3:ListBucket on "<StorageBucket>"',
      `s3:GetObjectVersionForReplication s3:GetObjectVersionAcl on ${under('<StorageBucket>')}`,
      `s3:ReplicateObject on ${under('arn:aws:s3:::elsewhere')}`,
      'kms:Decrypt on "<StorageKey>" if {"StringEquals":{"kms:ViaService":"s3.<Region>.amazonaws.com","kms:EncryptionContext:aws:s3:arn":"<StorageBucket>"}}',
      `kms:Encrypt kms:Decrypt on "${replica.replicaKeyArn}" if {"StringEquals":{"kms:ViaService":"s3.eu-west-1.amazonaws.com"},"StringLike":{"kms:EncryptionContext:aws:s3:arn":["arn:aws:s3:::elsewhere","arn:aws:s3:::elsewhere/*"]}}`,
    ]);
  });

  it('has an alarm on the metrics of each rule', () => {
    const text = JSON.stringify(of(added(platform, usual.platform), 'AWS::CloudWatch::Alarm').Properties.Metrics);
    for (const prefix of ['states', 'policies', 'registry']) expect(text).toContain(`"copy-${prefix}"`);
    expect(text.match(/"Value":"elsewhere"/g)).toHaveLength(3);
  });

  it('has no effect on one machine', () => {
    const home = { accountId: '000000000000', region: 'us-east-1', apiUrl: 'http://localhost:8080' };
    expect(new Stack(whole as never, home).one('AWS::S3::Bucket').ref).toBe(
      new Stack(usual.whole as never, home).one('AWS::S3::Bucket').ref,
    );
  });
});

it('two platforms in one stack have vaults with different names', () => {
  const app = new App({ analyticsReporting: false, treeMetadata: false, builtinCloudFormationValidation: false });
  const stack = new CdkStack(app, 'Company');
  for (const id of ['First', 'Second']) new Stepform(stack, id, { backupVaultArn: vault });
  const vaults = stack.node.findAll().flatMap((construct) => {
    const { cfnResourceType, backupVaultName } = construct as { cfnResourceType?: string; backupVaultName?: string };
    return cfnResourceType === 'AWS::Backup::BackupVault' ? [JSON.stringify(stack.resolve(backupVaultName))] : [];
  });
  expect(vaults).toHaveLength(2);
  expect(new Set(vaults).size).toBe(2);
});

it.each([
  [{ replicaBucketArn: replica.replicaBucketArn }, 'replicaBucketArn, replicaKeyArn: set both, or neither'],
  [{ replicaKeyArn: replica.replicaKeyArn }, 'replicaBucketArn, replicaKeyArn: set both, or neither'],
  [{ ...replica, bucketName: 'restored' }, 'replicaBucketArn: is replication of the data stack’s bucket'],
  [{ ...replica, replicaBucketArn: 'elsewhere' }, 'replicaBucketArn: must be the ARN of a bucket'],
  [{ ...replica, replicaKeyArn: 'alias/x' }, 'replicaKeyArn: must be the ARN of a key in KMS'],
  [{ backupVaultArn: 'stepform' }, 'backupVaultArn: must be the ARN of a vault in AWS Backup'],
])('%j is refused', (context, problem) => {
  expect(() => readSettings(context)).toThrow(problem);
});
