import type * as acm from 'aws-cdk-lib/aws-certificatemanager';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type * as kms from 'aws-cdk-lib/aws-kms';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as route53 from 'aws-cdk-lib/aws-route53';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { baseImages, referenceOf } from '#infra/build/base-images.ts';
import type { Bundles } from '#infra/build/bundle.ts';
import { readStamp } from '#infra/build/stamps.ts';
import { type GivenSettings, readSettings, type Settings, SettingsError } from '#infra/settings/settings.ts';
import { Platform } from './platform.ts';
import { Storage } from './storage.ts';

/** Settings that are constructs here, or names of the stack around it. */
type Replaced =
  | 'stackName'
  | 'domainName'
  | 'environmentsDomainName'
  | 'certificateArn'
  | 'hostedZoneId'
  | 'vpcId'
  | 'subnetIds'
  | 'tableName'
  | 'bucketName'
  | 'keyArn'
  | 'alarmTopicArn';

/** Host names of API and page, and of environments. Choose them before the first organization exists. */
export interface StepformDomain {
  /** Host of API and page, in lower case. */
  name: string;
  /** Host of the environments. Default: generated. */
  environmentsName?: string;
  /** Certificate for these names, in the stack's region. */
  certificate: acm.ICertificate;
  /** Public zone that gets records for these names. Default: outputs with the targets of CNAME records. */
  hostedZone?: route53.IHostedZone;
}

/** All optional. Settings and their defaults: infra/docs/settings.md. */
export interface StepformProps extends Omit<GivenSettings, Replaced> {
  /** Default: host names that API Gateway generates. */
  domain?: StepformDomain;
  /** Network of the runners, with a way to the internet. Default: a new network without NAT gateways. */
  vpc?: ec2.IVpc;
  /** Subnets in `vpc`; with public ones set `runnerPublicIp`. Default: private ones with a way out. */
  vpcSubnets?: ec2.SubnetSelection;
  /** The table of an earlier deployment, encrypted with `key`. Default: a new one, which is retained. */
  table?: dynamodb.ITable;
  /** The bucket of an earlier deployment, encrypted with `key`. Default: a new one, which is retained. */
  bucket?: s3.IBucket;
  /** Encrypts table, bucket and stored secrets. Default: a new one, which is retained. */
  key?: kms.IKey;
  /** Topic for alarms. Its policy and key must let CloudWatch publish. */
  alarmTopic?: sns.ITopic;
  /**
   * A public image for runners, or `build` to build one with Docker, which has Terraform and starts sooner. Default:
   * public.ecr.aws/docker/library/node:24-bookworm.
   */
  runnerImage?: string;
}

const prebuilt = (): Bundles => {
  const bundles = readStamp<Bundles>('bundles');
  if (!bundles) throw new Error('Stepform: the functions are not built. In a checkout run npm run synth.');
  return bundles.value;
};

/** Settings that refer to given constructs. */
const referencesOf = ({ domain, vpc, vpcSubnets, alarmTopic }: StepformProps): GivenSettings => ({
  ...(domain && { certificateArn: domain.certificate.certificateArn }),
  ...(domain?.hostedZone && { hostedZoneId: domain.hostedZone.hostedZoneId }),
  ...(vpc && {
    vpcId: vpc.vpcId,
    subnetIds: vpc.selectSubnets(vpcSubnets ?? { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS }).subnetIds,
  }),
  ...(alarmTopic && { alarmTopicArn: alarmTopic.topicArn }),
});

const where = 'Props of Stepform';

/** Props that would have no effect, or that lack another one. */
const problemsOf = (props: StepformProps): string[] => {
  const { table, bucket, key, vpc, vpcSubnets, keyRotationDays, configurationRetentionDays, runRetentionDays } = props;
  const refused = (applies: unknown, problem: string) => (applies ? [problem] : []);
  return [
    ...refused((table || bucket) && !key, 'table, bucket: need key, which encrypts them'),
    ...refused(key && keyRotationDays !== undefined, 'keyRotationDays: is a property of key'),
    ...refused(
      bucket && (configurationRetentionDays ?? runRetentionDays) !== undefined,
      'configurationRetentionDays, runRetentionDays: are lifecycle rules of bucket',
    ),
    ...refused(
      bucket && props.replicaBucketArn,
      'replicaBucketArn: is replication of a created bucket; set that of bucket yourself',
    ),
    ...refused(vpcSubnets && !vpc, 'vpcSubnets: needs vpc'),
  ];
};

const settingsOf = (props: StepformProps): Settings => {
  const problems = problemsOf(props);
  if (problems.length) throw new SettingsError(`${where}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  const {
    domain,
    vpc,
    vpcSubnets,
    table,
    bucket,
    key,
    alarmTopic,
    runnerImage = referenceOf(baseImages().node),
    ...settings
  } = props;
  const given = {
    ...settings,
    domainName: domain?.name,
    environmentsDomainName: domain?.environmentsName,
    runnerImage: runnerImage === 'build' ? undefined : runnerImage,
  };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return readSettings(Object.fromEntries(known), referencesOf(props), where);
};

/**
 * The platform as part of another CDK app: in a stack or nested stack of its own, because it has some 200 of a stack's
 * 500 resources. An app may contain several.
 *
 * @example
 * const { url, bootstrapFunction } = new Stepform(this, 'Stepform', { alarmTopic });
 */
export class Stepform extends Construct {
  /** Of API and page, without a trailing slash; its host is the `hostname` in a `cloud` block. */
  readonly url: string;
  /** Of the environments' API, for the coder command line. */
  readonly environmentsUrl: string;
  /** Creates the first organization: invoke it with `{"organization":"acme","email":"you@example.com"}`. */
  readonly bootstrapFunction: lambda.IFunction;
  /** Ends runs of a restored table (infra/docs/recovery.md). */
  readonly recoverFunction: lambda.IFunction;
  /** Refuses new runs for a while (infra/docs/operations.md). */
  readonly drainFunction: lambda.IFunction;
  /** Each run is one execution. */
  readonly stateMachine: sfn.IStateMachine;
  /** As given, or created. */
  readonly table: dynamodb.ITable;
  /** As given, or created. */
  readonly bucket: s3.IBucket;
  /** As given, or created: it encrypts table, bucket and stored secrets. */
  readonly key: kms.IKey;

  /** @throws an error that names each wrong setting */
  constructor(scope: Construct, id: string, props: StepformProps = {}) {
    super(scope, id);
    const settings = settingsOf(props);
    const storage = new Storage(this, 'Storage', settings, props);
    const platform = new Platform(this, 'Default', { settings, bundles: prebuilt(), storage });
    this.url = platform.url;
    this.environmentsUrl = platform.environmentsUrl;
    this.bootstrapFunction = platform.handlers.Bootstrap.function;
    this.recoverFunction = platform.handlers.Recover.function;
    this.drainFunction = platform.handlers.Drain.function;
    this.stateMachine = platform.lifecycle.machine;
    this.table = storage.table;
    this.bucket = storage.bucket;
    this.key = storage.key;
  }
}
