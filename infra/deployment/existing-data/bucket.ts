import type { Finding } from '#clients/cli/account-checks.ts';
import { type Answer, ask, type Caller } from '#clients/cli/ask-aws.ts';
import { type BucketRule, bucketRules, type Retention } from '#infra/stack/bucket-rules.ts';

/** Checks an existing bucket: the deployment does not change it. */

interface Expected {
  bucketName: string;
  /** Undefined if it cannot be read. */
  keyArn: string | undefined;
  retention: Retention;
}

const expiry = ({ days, removesMarkers }: BucketRule) => {
  if (days !== undefined) return { Expiration: { Days: days } };
  return removesMarkers ? { Expiration: { ExpiredObjectDeleteMarker: true } } : {};
};

/** As in the API (S3 API: PutBucketLifecycleConfiguration). */
const ruleOfApi = (rule: BucketRule) => ({
  ID: rule.id,
  Status: 'Enabled',
  Filter: { Prefix: rule.prefix ?? '' },
  ...expiry(rule),
  ...(rule.oldVersionDays ? { NoncurrentVersionExpiration: { NoncurrentDays: rule.oldVersionDays } } : {}),
  ...(rule.uploadDays ? { AbortIncompleteMultipartUpload: { DaysAfterInitiation: rule.uploadDays } } : {}),
});

const corsRules = [
  { AllowedOrigins: ['*'], AllowedMethods: ['GET', 'PUT'], AllowedHeaders: ['content-type'], MaxAgeSeconds: 3600 },
];

const onlySecure = (bucketName: string, region: string) => {
  const partition = region.startsWith('cn-') ? 'aws-cn' : region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
  const arn = `arn:${partition}:s3:::${bucketName}`;
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Action: 's3:*',
        Resource: [arn, `${arn}/*`],
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ],
  };
};

const shell = (value: object): string => `'${JSON.stringify(value)}'`;

const value = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

/** The days of each rule with their ids, in the API's response. */
const rulesIn = (xml: string): string[] =>
  [...xml.matchAll(/<Rule>(.*?)<\/Rule>/gs)]
    .filter(([, rule = '']) => value(rule, 'Status') === 'Enabled')
    .map(([, rule = '']) =>
      [
        value(rule, 'Prefix') ?? '',
        value(rule, 'Days') ?? '',
        value(rule, 'ExpiredObjectDeleteMarker') ?? '',
        value(rule, 'NoncurrentDays') ?? '',
        value(rule, 'DaysAfterInitiation') ?? '',
      ].join(' '),
    );

const ruleKey = ({ prefix, days, oldVersionDays, removesMarkers, uploadDays }: BucketRule): string =>
  [prefix ?? '', days ?? '', removesMarkers ?? '', oldVersionDays ?? '', uploadDays ?? ''].join(' ');

interface Check {
  /** Query of the request. */
  part: string;
  holds(xml: string): boolean;
  what: string;
  command: string;
}

const checksOf = ({ bucketName, keyArn, retention }: Expected, region: string): Check[] => {
  const rules = bucketRules(retention);
  const encryption = {
    Rules: [
      {
        ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: keyArn ?? '<key>' },
        BucketKeyEnabled: true,
      },
    ],
  };
  return [
    {
      part: 'versioning',
      holds: (xml) => value(xml, 'Status') === 'Enabled',
      what: 'overwritten and deleted objects are lost (versioning)',
      command: 'put-bucket-versioning --versioning-configuration Status=Enabled',
    },
    {
      part: 'encryption',
      holds: (xml) => keyArn === undefined || value(xml, 'KMSMasterKeyID') === keyArn,
      what: 'new objects are not encrypted with the key of the platform',
      command: `put-bucket-encryption --server-side-encryption-configuration ${shell(encryption)}`,
    },
    {
      part: 'publicAccessBlock',
      holds: (xml) => (xml.match(/>true</g) ?? []).length === 4,
      what: 'it may become public (public access block)',
      command:
        'put-public-access-block --public-access-block-configuration BlockPublicAcls=true,IgnorePublicAcls=true,BlockPublicPolicy=true,RestrictPublicBuckets=true',
    },
    {
      part: 'ownershipControls',
      holds: (xml) => value(xml, 'ObjectOwnership') === 'BucketOwnerEnforced',
      what: 'ACLs of objects are in effect (ownership)',
      command: 'put-bucket-ownership-controls --ownership-controls Rules=[{ObjectOwnership=BucketOwnerEnforced}]',
    },
    {
      part: 'notification',
      holds: (xml) => xml.includes('EventBridgeConfiguration'),
      what: 'it sends no events, so that uploads are noticed late (EventBridge)',
      command: `put-bucket-notification-configuration --notification-configuration ${shell({ EventBridgeConfiguration: {} })}`,
    },
    {
      part: 'cors',
      holds: (xml) => ['GET', 'PUT'].every((method) => xml.includes(`<AllowedMethod>${method}</AllowedMethod>`)),
      what: 'the page cannot read plans and states (CORS)',
      command: `put-bucket-cors --cors-configuration ${shell({ CORSRules: corsRules })}`,
    },
    {
      part: 'lifecycle',
      holds: (xml) => rulesIn(xml).sort().join() === rules.map(ruleKey).sort().join(),
      what: 'its lifecycle rules differ from those of the settings',
      command: `put-bucket-lifecycle-configuration --lifecycle-configuration ${shell({ Rules: rules.map(ruleOfApi) })}`,
    },
    {
      part: 'policy',
      holds: (text) => text.includes('aws:SecureTransport'),
      what: 'it accepts requests without TLS (bucket policy)',
      command: `put-bucket-policy --policy ${shell(onlySecure(bucketName, region))}`,
    },
  ];
};

/** Responses for a configuration that does not exist; other errors mean that it cannot be read. */
const isAbsent = ({ text }: Answer): boolean => /<Code>(NoSuch|.*NotFoundError)/.test(text);

export const bucketFindings = async (caller: Caller, expected: Expected): Promise<Finding[]> => {
  const { bucketName } = expected;
  const get = (part: string) => ask('s3', caller, { method: 'GET', path: `/${bucketName}?${part}` });
  const location = await get('location');
  if (location.text.includes('NoSuchBucket'))
    return [{ what: `Bucket ${bucketName}: it does not exist.`, todo: 'Check its name: aws s3 ls' }];
  const command = `aws s3api --region ${caller.region}`;
  const found = await Promise.all(
    checksOf(expected, caller.region).map(async ({ part, holds, what, command: rest }) => {
      const answer = await get(part);
      if (!answer.ok && !isAbsent(answer)) return [];
      if (answer.ok && holds(answer.text)) return [];
      return [{ what: `Bucket ${bucketName}: ${what}.`, todo: `${command} ${rest} --bucket ${bucketName}` }];
    }),
  );
  return found.flat();
};
