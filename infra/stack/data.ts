import { type App, CfnOutput, CrossStackReferences, ReferenceStrength, Stack } from 'aws-cdk-lib/core';
import type { Settings } from '#infra/settings/settings.ts';
import { recordSettings } from './recorded-settings.ts';
import { Storage } from './storage.ts';

/**
 * Table, bucket and key: they outlive the platform's stack, which can be deleted and deployed again. The platform
 * imports their names (CloudFormation: exports), so that CloudFormation refuses to delete this stack, or to replace a
 * resource of it, while a platform uses it.
 */
export class Data extends Stack {
  readonly storage: Storage;

  constructor(app: App, settings: Settings) {
    super(app, `${settings.stackName}-Data`, {
      description: 'Stepform: table, bucket and key',
      analyticsReporting: false,
      terminationProtection: settings.removalPolicy === 'retain',
    });
    recordSettings(this, settings);
    this.storage = new Storage(this, 'Storage', settings);
    const { table, bucket, key } = this.storage;
    for (const kept of [table, bucket, key]) CrossStackReferences.of(kept).produce(ReferenceStrength.STRONG);
    // Exported even if this version does not import them: CloudFormation refuses to remove an export that the deployed
    // platform still imports.
    for (const value of [table.tableArn, table.tableName, bucket.bucketArn, bucket.bucketName, key.keyArn])
      this.exportValue(value);
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'BucketName', { value: bucket.bucketName });
    new CfnOutput(this, 'KeyArn', { value: key.keyArn });
    // Bucket and key of another account allow it (infra/docs/recovery.md).
    const { replication } = this.storage;
    if (replication) new CfnOutput(this, 'ReplicationRoleArn', { value: replication.role.roleArn });
  }
}
