import {
  DeleteTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { type Check, expect, ok, skipped, until } from '../check.ts';
import { prefix } from '../platform.ts';

const limitSeconds = 3600;

export const restoreDrill: Check = {
  name: 'restore drill',
  proves: "The table's backup can be restored beside it, and has its items",
  documented: 'minutes to an hour, by size (recovery); $0.15 a GB',
  part: 'full',
  isSlow: true,
  async perform(platform) {
    const { target } = platform;
    if (target.kind === 'local') return skipped('one machine has backups of its own: stepform backup, restore');
    const dynamodb = new DynamoDBClient({});
    const TargetTableName = `${prefix}${Date.now().toString(36)}`;
    const began = Date.now();
    const status = async () =>
      (await dynamodb.send(new DescribeTableCommand({ TableName: TargetTableName }))).Table?.TableStatus;
    await dynamodb.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: target.table,
        TargetTableName,
        UseLatestRestorableTime: true,
      }),
    );
    platform.onRemoval(() => dynamodb.send(new DeleteTableCommand({ TableName: TargetTableName })));
    await until('the restored table', status, (now) => now === 'ACTIVE', limitSeconds);
    const count = async (TableName: string) =>
      (await dynamodb.send(new ScanCommand({ TableName, Limit: 100, Select: 'COUNT' }))).Count ?? 0;
    const [restored, live] = await Promise.all([count(TargetTableName), count(target.table)]);
    expect(restored > 0 || live === 0, 'the restored table is empty');
    const minutes = (Date.now() - began) / 60_000;
    return ok(`restored in ${minutes.toFixed(0)} min`, { minutes });
  },
};
