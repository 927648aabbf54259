import { text } from 'node:stream/consumers';
import { beforeEach, expect, it, vi } from 'vitest';
import { existingDataFindings } from '#infra/deployment/existing-data/findings.ts';
import { readSettings } from '#infra/settings/settings.ts';
import { serve } from '#test/support/serve.ts';

/** Checks of existing data, against the responses of AWS; test/elsewhere/recovery.ts runs them against an emulator. */

const key = 'arn:aws:kms:eu-central-1:123456789012:key/mrk-0123456789abcdef';
const all = { tableName: 'restored', bucketName: 'objects', keyArn: key };

interface Answer {
  status: number;
  body: string;
}
/** By operation, or by the query of a request to S3. */
let answers: Record<string, Answer>;

const ok = (body: object | string): Answer => ({
  status: 200,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

const table = (change: object = {}) => ({
  Table: {
    TableStatus: 'ACTIVE',
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    DeletionProtectionEnabled: true,
    SSEDescription: { KMSMasterKeyArn: key },
    GlobalSecondaryIndexes: [
      ['due', 'dueShard', 'dueAt'],
      ['changed', 'changedIn', 'changedAt'],
    ].map(([name, partition, sort]) => ({
      IndexName: name,
      IndexStatus: 'ACTIVE',
      KeySchema: [
        { AttributeName: partition, KeyType: 'HASH' },
        { AttributeName: sort, KeyType: 'RANGE' },
      ],
    })),
    ...change,
  },
});

const rule = (inner: string) => `<Rule><Status>Enabled</Status>${inner}</Rule>`;
const lifecycle = [
  '<ID>old-versions</ID><Filter><Prefix></Prefix></Filter><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration><NoncurrentVersionExpiration><NoncurrentDays>90</NoncurrentDays></NoncurrentVersionExpiration>',
  '<AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
  '<Filter><Prefix>uploads/</Prefix></Filter><Expiration><Days>7</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>',
  '<Filter><Prefix>configurations/vcs/</Prefix></Filter><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>',
  '<Filter><Prefix>providers/</Prefix></Filter><Expiration><Days>30</Days></Expiration><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>',
].map(rule);

const inOrder = (): Record<string, Answer> => ({
  DescribeKey: ok({ KeyMetadata: { KeyState: 'Enabled' } }),
  DescribeTable: ok(table()),
  DescribeTimeToLive: ok({ TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAt' } }),
  DescribeContinuousBackups: ok({
    ContinuousBackupsDescription: { PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' } },
  }),
  location: ok('<LocationConstraint>eu-central-1</LocationConstraint>'),
  versioning: ok('<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'),
  encryption: ok(`<Rule><KMSMasterKeyID>${key}</KMSMasterKeyID></Rule>`),
  publicAccessBlock: ok(
    '<P><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></P>',
  ),
  ownershipControls: ok('<ObjectOwnership>BucketOwnerEnforced</ObjectOwnership>'),
  notification: ok('<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>'),
  cors: ok('<CORSRule><AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod></CORSRule>'),
  lifecycle: ok(lifecycle.join('')),
  policy: ok('{"Condition":{"Bool":{"aws:SecureTransport":"false"}}}'),
});

const server = await serve(async (request, response) => {
  const body = await text(request);
  const operation = String(request.headers['x-amz-target'] ?? '').split('.')[1];
  const name = operation || (body.includes('DescribeStacks') ? 'DescribeStacks' : request.url?.split('?')[1]);
  const { status, body: answer } = answers[name ?? ''] ?? { status: 500, body: `no answer for ${name}` };
  response.writeHead(status).end(answer);
});
vi.stubEnv('AWS_ENDPOINT_URL', server.url);
beforeEach(() => {
  answers = inOrder();
});

const caller = { region: 'eu-central-1', credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 'b' }) };
const findings = async (settings: object = all) => {
  const { accessKeyId, secretAccessKey } = await caller.credentials();
  const credentials = { accessKeyId, secretAccessKey };
  return existingDataFindings({ region: caller.region, credentials }, readSettings({ ...settings }));
};

it('data that is in order has no findings', async () => {
  expect(await findings({ ...all, alarmEmail: 'ops@example.com' })).toEqual([]);
  expect(await findings({})).toEqual([]);
});

const absent = (code: string): Answer => ({ status: 404, body: `<Error><Code>${code}</Code></Error>` });

it.each<[string, Record<string, Answer>, RegExp, RegExp]>([
  [
    'a missing table',
    { DescribeTable: { status: 400, body: 'ResourceNotFoundException' } },
    /does not exist in eu/,
    /./,
  ],
  [
    'another table',
    { DescribeTable: ok(table({ GlobalSecondaryIndexes: [] })) },
    /not a table of Stepform/,
    /indexes "due" and "changed"/,
  ],
  [
    'a table that is being restored',
    { DescribeTable: ok(table({ TableStatus: 'CREATING' })) },
    /CREATING/,
    /wait table/,
  ],
  ['a key of AWS', { DescribeTable: ok(table({ SSEDescription: undefined })) }, /a key of AWS/, /KMSMasterKeyId=arn/],
  ['capacity', { DescribeTable: ok(table({ BillingModeSummary: {} })) }, /provisioned/, /PAY_PER_REQUEST/],
  [
    'no protection',
    { DescribeTable: ok(table({ DeletionProtectionEnabled: false })) },
    /can be deleted/,
    /--deletion-p/,
  ],
  ['no expiry', { DescribeTimeToLive: ok({}) }, /never expire/, /expiresAt --table-name restored$/],
  ['no recovery', { DescribeContinuousBackups: ok({}) }, /cannot be restored/, /PointInTimeRecoveryEnabled=true/],
  ['a missing bucket', { location: absent('NoSuchBucket') }, /Bucket objects: it does not exist/, /./],
  ['no versions', { versioning: ok('<VersioningConfiguration/>') }, /versioning/, /Status=Enabled --bucket objects$/],
  ['another key of the bucket', { encryption: ok('<KMSMasterKeyID>x</KMSMasterKeyID>') }, /not encrypted/, /aws:kms/],
  ['public access', { publicAccessBlock: absent('NoSuchPublicAccessBlockConfiguration') }, /public/, /BlockPublicAcls/],
  ['ACLs', { ownershipControls: absent('OwnershipControlsNotFoundError') }, /ACLs/, /BucketOwnerEnforced/],
  ['no events', { notification: ok('<NotificationConfiguration/>') }, /no events/, /EventBridgeConfiguration/],
  ['no CORS', { cors: absent('NoSuchCORSConfiguration') }, /CORS/, /AllowedOrigins/],
  ['other lifecycle rules', { lifecycle: ok(lifecycle.slice(1).join('')) }, /lifecycle/, /"NoncurrentDays":90/],
  ['no TLS', { policy: absent('NoSuchBucketPolicy') }, /without TLS/, /aws:SecureTransport/],
  ['a disabled key', { DescribeKey: ok({ KeyMetadata: { KeyState: 'Disabled' } }) }, /Disabled/, /enable-key/],
  [
    'a lost key',
    { DescribeKey: ok({ KeyMetadata: { KeyState: 'PendingDeletion' } }) },
    /deleted/,
    /cancel-key-deletion/,
  ],
])('%s is found, with its remedy', async (_, change, what, todo) => {
  Object.assign(answers, change);
  const found = await findings();
  expect(found).toHaveLength(1);
  expect(found[0]?.what).toMatch(what);
  expect(found[0]?.todo).toMatch(todo);
});

it('a key of another region is to be replicated', async () => {
  const [found] = await findings({ ...all, keyArn: key.replace('eu-central-1', 'us-east-1') });
  expect(found?.todo).toBe(
    'aws kms replicate-key --region us-east-1 --key-id mrk-0123456789abcdef --replica-region eu-central-1',
  );
});

it('lifecycle rules include those of the retention settings', async () => {
  const [found] = await findings({ ...all, runRetentionDays: 365 });
  expect(found?.todo).toContain(
    '{"ID":"old-outcomes","Status":"Enabled","Filter":{"Prefix":"outcomes/"},"Expiration":{"Days":365}}',
  );
});

it('without a stack of the data, the key is needed', async () => {
  answers.DescribeStacks = { status: 400, body: '<Message>Stack with id Stepform-Data does not exist</Message>' };
  const [found] = await findings({ tableName: 'restored' });
  expect(found?.todo).toMatch(/^Give all of tableName, bucketName and keyArn/);
});

it('a check without permission reports nothing', async () => {
  for (const name of Object.keys(answers)) answers[name] = { status: 403, body: '<Code>AccessDenied</Code>' };
  expect(await findings()).toEqual([]);
});
