import * as backup from 'aws-cdk-lib/aws-backup';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Aws, Fn } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { Settings } from '#infra/settings/settings.ts';
import { acknowledgeWildcard } from './acknowledge.ts';
import { type PlatformStorage, removalPolicy } from './storage.ts';

export interface TableBackupProps {
  settings: Settings;
  /** Of the platform. */
  name: string;
  storage: PlatformStorage;
  /** The operator's vault. */
  vaultArn: string;
}

/** As long as the table's own point-in-time recovery. */
const copyDays = 35;
/** Only the source of the copy: the table itself can be restored to any second. */
const localDays = 7;

/**
 * Copies the table into a vault of the operator every day. AWS Backup copies between vaults, so the backup is first made in
 * a vault of this stack, which has AWS Backup's own key: it can be read without the platform's.
 */
export class TableBackup extends Construct {
  /** Of the vault in this stack. */
  readonly vaultName: string;

  constructor(scope: Construct, id: string, { settings, name, storage, vaultArn }: TableBackupProps) {
    super(scope, id);
    const vault = new backup.CfnBackupVault(this, 'Vault', { backupVaultName: this.#vaultName() });
    // CloudFormation cannot delete a vault that has backups.
    vault.applyRemovalPolicy(removalPolicy(settings));
    this.vaultName = vault.ref;
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('backup.amazonaws.com'),
      description: 'Stepform: daily backup of the table',
      inlinePolicies: {
        Backup: new iam.PolicyDocument({ statements: statementsOf(storage, vault.attrBackupVaultArn, vaultArn) }),
      },
    });
    acknowledgeWildcard(role, recoveryPoints, 'AWS Backup generates the ids of backups.');
    const plan = new backup.CfnBackupPlan(this, 'Plan', {
      backupPlan: {
        backupPlanName: `${name}-table`,
        backupPlanRule: [
          {
            ruleName: 'daily',
            targetBackupVault: vault.ref,
            scheduleExpression: 'cron(0 3 * * ? *)',
            startWindowMinutes: 60,
            completionWindowMinutes: 720,
            lifecycle: { deleteAfterDays: localDays },
            copyActions: [{ destinationBackupVaultArn: vaultArn, lifecycle: { deleteAfterDays: copyDays } }],
          },
        ],
      },
    });
    new backup.CfnBackupSelection(this, 'Selection', {
      backupPlanId: plan.ref,
      backupSelection: { selectionName: 'table', iamRoleArn: role.roleArn, resources: [storage.table.tableArn] },
    });
  }

  /** Unique in account and region, also after a retained vault: 50 characters at most (AWS::Backup::BackupVault). */
  #vaultName(): string {
    const stack = Fn.select(0, Fn.split('-', Fn.select(2, Fn.split('/', Aws.STACK_ID))));
    return `stepform-${this.node.addr.slice(-8)}-${stack}`;
  }
}

const recoveryPoints = `arn:${Aws.PARTITION}:backup:*:${Aws.ACCOUNT_ID}:recovery-point:*`;

/**
 * Of AWS's policy for all services (AWSBackupServiceRolePolicyForBackup), what a table with advanced backups and one copy
 * needs (AWS Backup: customer managed policies, DynamoDB).
 */
const statementsOf = ({ table, key }: PlatformStorage, ownVault: string, vaultArn: string): iam.PolicyStatement[] => [
  new iam.PolicyStatement({
    actions: ['dynamodb:DescribeTable', 'dynamodb:ListTagsOfResource', 'dynamodb:StartAwsBackupJob'],
    resources: [table.tableArn],
  }),
  new iam.PolicyStatement({
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } },
  }),
  new iam.PolicyStatement({ actions: ['backup:DescribeBackupVault'], resources: [ownVault, vaultArn] }),
  new iam.PolicyStatement({ actions: ['backup:CopyIntoBackupVault'], resources: [vaultArn] }),
  new iam.PolicyStatement({
    actions: ['backup:CopyFromBackupVault'],
    resources: [recoveryPoints],
    conditions: { 'ForAnyValue:ArnEquals': { 'backup:CopyTargets': vaultArn } },
  }),
  // Tags of the table are copied.
  new iam.PolicyStatement({ actions: ['backup:TagResource'], resources: [recoveryPoints] }),
];
