import { ask, type Caller, call, increase, query, quotaOf } from './ask-aws.ts';

/**
 * Gaps of an account or region. A check without permission reports nothing: users who deploy with only the CDK's roles
 * may see none of it, and CloudFormation reports it later.
 */

export interface Finding {
  what: string;
  todo: string;
}

/** Texts of every element of that name. */
export const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, text = '']) => text);

/**
 * ECS creates its role with the first cluster of an account, if the caller has permission (ECS: service-linked roles).
 * Without it no task starts: "Unable to assume the service linked role".
 */
export const serviceLinkedRole = async (caller: Caller): Promise<Finding[]> => {
  const { text } = await query('iam', caller, {
    Action: 'GetRole',
    RoleName: 'AWSServiceRoleForECS',
    Version: '2010-05-08',
  });
  if (!elements(text, 'Code').includes('NoSuchEntity')) return [];
  return [
    {
      what: 'ECS: the account has no service-linked role for it yet. The first runs could not start.',
      todo: 'aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com',
    },
  ];
};

const vpcQuota = { service: 'vpc', code: 'L-F678F1CE' };

/** @param stackName the platform's stack: if it has a network, the quota already covers it */
export const roomForNetwork = async (caller: Caller, stackName: string): Promise<Finding[]> => {
  const { ok, text } = await query('ec2', caller, { Action: 'DescribeVpcs', Version: '2016-11-15' });
  if (!ok || elements(text, 'value').includes(stackName)) return [];
  const networks = elements(text, 'vpcId').length;
  const quota = await quotaOf(caller, vpcQuota.service, vpcQuota.code);
  if (quota === undefined || networks < quota) return [];
  return [
    {
      what: `VPC: ${networks} of ${quota} in ${caller.region}. The runners' network would be one more.`,
      todo: `Use an existing one (-c vpcId=… -c subnetIds=…), or raise the quota:\n    ${increase(caller.region, vpcQuota.service, vpcQuota.code, quota + 5)}`,
    },
  ];
};

/** Regions where Fargate is in some zones only (ECS: supported Regions for Linux containers on Fargate). */
const fargateZones: Record<string, string[]> = {
  'us-west-1': ['usw1-az1', 'usw1-az3'],
  'ap-northeast-1': ['apne1-az1', 'apne1-az2', 'apne1-az4'],
  'cn-north-1': ['cnn1-az1', 'cnn1-az2'],
};

/** The runners' network has subnets in the first two zones that CloudFormation lists (infra/stack/runner.ts). */
export const zonesWithFargate = async (caller: Caller): Promise<Finding[]> => {
  const supported = fargateZones[caller.region];
  if (!supported) return [];
  const { ok, text } = await query('ec2', caller, { Action: 'DescribeAvailabilityZones', Version: '2016-11-15' });
  if (!ok) return [];
  const names = elements(text, 'zoneName');
  const ids = elements(text, 'zoneId');
  const zones = names.map((name, n) => ({ name, id: ids[n] ?? '' })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const without = zones.slice(0, 2).filter(({ id }) => !supported.includes(id));
  return without.map(({ name, id }) => ({
    what: `Fargate: not in zone ${name} (${id}), which the runners' network would use.`,
    todo: `Use subnets in ${supported.join(', ')} of a network of your own: -c vpcId=… -c subnetIds=…`,
  }));
};

const runtime = 'nodejs24.x';

/** Lambda validates the name of a runtime against those that it has in the region. */
export const runtimeInRegion = async (caller: Caller): Promise<Finding[]> => {
  const path = `/2018-10-31/layers?CompatibleRuntime=${runtime}&MaxItems=1`;
  const { ok, text } = await ask('lambda', caller, { method: 'GET', path });
  if (ok || !/InvalidParameterValue|ValidationException/.test(text)) return [];
  return [{ what: `Lambda: no runtime ${runtime} in ${caller.region}.`, todo: 'Choose another region.' }];
};

interface Certificate {
  Status: string;
  DomainName?: string;
  SubjectAlternativeNames?: string[];
}

/** A wildcard stands for one label. */
const isNamed = (name: string, { DomainName = '', SubjectAlternativeNames = [] }: Certificate): boolean =>
  [DomainName, ...SubjectAlternativeNames].some(
    (one) => one === name || (one.startsWith('*.') && one.slice(1) === name.slice(name.indexOf('.'))),
  );

/**
 * A Regional domain name needs an issued certificate of the same region (API Gateway: certificates for custom domain
 * names).
 * @param names host names of the deployment
 */
export const certificateOf = async (caller: Caller, arn: string, names: string[]): Promise<Finding[]> => {
  const [first = '', ...others] = names;
  const alternatives = others.length ? ` --subject-alternative-names ${others.join(' ')}` : '';
  const request = `aws acm request-certificate --region ${caller.region} --validation-method DNS --domain-name ${first}${alternatives}`;
  const region = arn.split(':')[3];
  if (region !== caller.region)
    return [{ what: `Certificate: in ${region}, but the deployment is in ${caller.region}.`, todo: request }];
  const { ok, text } = await call('acm', caller, 'CertificateManager.DescribeCertificate', { CertificateArn: arn });
  if (text.includes('ResourceNotFoundException'))
    return [{ what: `Certificate: ${arn} does not exist.`, todo: request }];
  if (!ok) return [];
  const { Certificate: certificate } = JSON.parse(text) as { Certificate: Certificate };
  if (certificate.Status !== 'ISSUED')
    return [
      {
        what: `Certificate: its status is ${certificate.Status}, not ISSUED.`,
        todo: `Add the DNS records that validate it: aws acm describe-certificate --region ${region} --certificate-arn ${arn}`,
      },
    ];
  return names
    .filter((name) => !isNamed(name, certificate))
    .map((name) => ({ what: `Certificate: it does not have the name ${name}.`, todo: request }));
};

/**
 * Copies of a table in another region or account need AWS Backup's full management of DynamoDB, which accounts with a vault
 * from before November 2021 have to turn on (AWS Backup: advanced DynamoDB backup).
 * @param vaultArn vault for the copies
 */
export const vaultElsewhere = async (caller: Caller, account: string, vaultArn: string): Promise<Finding[]> => {
  const [, , , region, owner] = vaultArn.split(':');
  if (region === caller.region && owner === account)
    return [
      {
        what: `Backup: vault ${vaultArn} is in the account and region of the deployment, and would be lost with them.`,
        todo: `Create one elsewhere: aws backup create-backup-vault --region <another region> --backup-vault-name stepform`,
      },
    ];
  const { ok, text } = await ask('backup', caller, { method: 'GET', path: '/account-settings' });
  if (!ok) return [];
  const { ResourceTypeManagementPreference: managed } = JSON.parse(text) as {
    ResourceTypeManagementPreference?: Record<string, boolean>;
  };
  if (managed?.DynamoDB) return [];
  return [
    {
      what: `Backup: AWS Backup cannot copy tables from ${caller.region} elsewhere (advanced features for DynamoDB are off).`,
      todo: `aws backup update-region-settings --region ${caller.region} --resource-type-opt-in-preference DynamoDB=true --resource-type-management-preference DynamoDB=true`,
    },
  ];
};
