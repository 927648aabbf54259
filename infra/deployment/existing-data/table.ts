import type { Finding } from '#clients/cli/account-checks.ts';
import { type Caller, call } from '#clients/cli/ask-aws.ts';

/**
 * Checks an existing table. A restore brings items, indexes and encryption; time to live, point-in-time recovery,
 * deletion protection and tags have to be set again (DynamoDB API: RestoreTableToPointInTime, RestoreTableFromBackup).
 */

interface KeyElement {
  AttributeName: string;
  KeyType: string;
}

interface Described {
  Table: {
    TableStatus: string;
    KeySchema: KeyElement[];
    BillingModeSummary?: { BillingMode?: string };
    DeletionProtectionEnabled?: boolean;
    SSEDescription?: { KMSMasterKeyArn?: string };
    GlobalSecondaryIndexes?: {
      IndexName: string;
      IndexStatus: string;
      KeySchema: KeyElement[];
    }[];
  };
}

interface Expected {
  tableName: string;
  /** Undefined if it cannot be read. */
  keyArn: string | undefined;
  /** Whether tables of this deployment are protected from deletion. */
  isKept: boolean;
}

const schemaOf = (keys: KeyElement[]): string =>
  keys.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(', ');

const keySchema = 'pk HASH, sk RANGE';
const indexSchemas: Record<string, string> = {
  due: 'dueShard HASH, dueAt RANGE',
  changed: 'changedIn HASH, changedAt RANGE',
};

const contentFindings = ({ Table }: Described, { tableName, keyArn }: Expected, command: string): Finding[] => {
  const indexes = (Table.GlobalSecondaryIndexes ?? []).filter(
    ({ IndexName, KeySchema }) => schemaOf(KeySchema) === indexSchemas[IndexName],
  );
  if (schemaOf(Table.KeySchema) !== keySchema || indexes.length < Object.keys(indexSchemas).length)
    return [
      {
        what: `Table ${tableName}: it is not a table of Stepform (key ${schemaOf(Table.KeySchema)}).`,
        todo: 'Restore the whole table with its indexes "due" and "changed", and give its name.',
      },
    ];
  const findings: Finding[] = [];
  const statuses = [Table.TableStatus, ...indexes.map(({ IndexStatus }) => IndexStatus)];
  if (statuses.some((status) => status !== 'ACTIVE'))
    findings.push({
      what: `Table ${tableName} and its indexes are not all active: ${statuses.join(', ')}.`,
      todo: `aws dynamodb wait table-exists --table-name ${tableName}`,
    });
  const encryptedWith = Table.SSEDescription?.KMSMasterKeyArn;
  if (keyArn !== undefined && encryptedWith !== keyArn)
    findings.push({
      what: `Table ${tableName}: it is encrypted with ${encryptedWith ?? 'a key of AWS'}, not with ${keyArn}.`,
      todo: `${command} update-table --sse-specification Enabled=true,SSEType=KMS,KMSMasterKeyId=${keyArn}`,
    });
  if (Table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST')
    findings.push({
      what: `Table ${tableName}: its capacity is provisioned, so that requests are throttled.`,
      todo: `${command} update-table --billing-mode PAY_PER_REQUEST`,
    });
  return findings;
};

const read = async <T>(caller: Caller, operation: string, input: object): Promise<T | { error: string }> => {
  const { ok, text } = await call('dynamodb', caller, `DynamoDB_20120810.${operation}`, input);
  return ok ? (JSON.parse(text) as T) : { error: text };
};

const isError = (answer: object): answer is { error: string } => 'error' in answer;

const protectionFindings = async (caller: Caller, { tableName }: Expected, command: string): Promise<Finding[]> => {
  const input = { TableName: tableName };
  const [expiry, backups] = await Promise.all([
    read<{ TimeToLiveDescription?: { TimeToLiveStatus?: string; AttributeName?: string } }>(
      caller,
      'DescribeTimeToLive',
      input,
    ),
    read<{
      ContinuousBackupsDescription?: { PointInTimeRecoveryDescription?: { PointInTimeRecoveryStatus?: string } };
    }>(caller, 'DescribeContinuousBackups', input),
  ]);
  const findings: Finding[] = [];
  if (!isError(expiry)) {
    const { TimeToLiveStatus = '', AttributeName } = expiry.TimeToLiveDescription ?? {};
    if (!TimeToLiveStatus.startsWith('ENABL') || AttributeName !== 'expiresAt')
      findings.push({
        what: `Table ${tableName}: old items never expire (time to live).`,
        todo: `${command} update-time-to-live --time-to-live-specification Enabled=true,AttributeName=expiresAt`,
      });
  }
  if (!isError(backups)) {
    const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
    if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED')
      findings.push({
        what: `Table ${tableName}: it cannot be restored (point-in-time recovery).`,
        todo: `${command} update-continuous-backups --point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`,
      });
  }
  return findings;
};

export const tableFindings = async (caller: Caller, expected: Expected): Promise<Finding[]> => {
  const { tableName, isKept } = expected;
  const described = await read<Described>(caller, 'DescribeTable', { TableName: tableName });
  if (isError(described)) {
    if (!described.error.includes('ResourceNotFoundException')) return [];
    return [
      {
        what: `Table ${tableName}: it does not exist in ${caller.region}.`,
        todo: 'Restore it first (infra/docs/recovery.md), or check region and name.',
      },
    ];
  }
  const command = `aws dynamodb --region ${caller.region}`;
  const withTable = (finding: Finding): Finding => ({
    ...finding,
    todo: finding.todo.startsWith(command) ? `${finding.todo} --table-name ${tableName}` : finding.todo,
  });
  const protection: Finding[] =
    isKept && !described.Table.DeletionProtectionEnabled
      ? [
          {
            what: `Table ${tableName}: it can be deleted (deletion protection).`,
            todo: `${command} update-table --deletion-protection-enabled`,
          },
        ]
      : [];
  return [
    ...contentFindings(described, expected, command),
    ...protection,
    ...(await protectionFindings(caller, expected, command)),
  ].map(withTable);
};
