import { type App, CfnOutput, CrossStackReferences, ReferenceStrength, Stack } from 'aws-cdk-lib/core';
import type { Settings } from '#infra/settings/settings.ts';
import { Storage } from './storage.ts';

/**
 * Table, bucket and key: what outlives the platform, which can be deleted and deployed anew beside it. The platform imports
 * them (CloudFormation: exports), so that this stack cannot be deleted, and nothing in it replaced, while a platform uses it.
 */
export class Data extends Stack {
  readonly storage: Storage;

  constructor(app: App, settings: Settings) {
    super(app, `${settings.stackName}-Data`, {
      description: 'Stepform: table, bucket and key',
      analyticsReporting: false,
      terminationProtection: settings.removalPolicy === 'retain',
    });
    this.storage = new Storage(this, 'Storage', settings);
    const { table, bucket, key } = this.storage;
    for (const kept of [table, bucket, key]) CrossStackReferences.of(kept).produce(ReferenceStrength.STRONG);
    // Whether or not this version imports them: CloudFormation refuses to take away an export that the platform before still uses.
    for (const value of [table.tableArn, table.tableName, bucket.bucketArn, bucket.bucketName, key.keyArn])
      this.exportValue(value);
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'BucketName', { value: bucket.bucketName });
  }
}
