import type { SFNClient } from '@aws-sdk/client-sfn';
import { AwsClient } from 'aws4fetch';

/** Calls of services that the command line has no SDK for. */

export type Credentials = Awaited<ReturnType<SFNClient['config']['credentials']>>;

/** An account in a region, as its credentials see it. */
export interface Caller {
  region: string;
  credentials: Credentials;
}

export interface Answer {
  ok: boolean;
  text: string;
}

export const patienceMs = 20_000;

type Service =
  | 'acm'
  | 'backup'
  | 'cloudformation'
  | 'dynamodb'
  | 'ec2'
  | 'iam'
  | 'kms'
  | 'lambda'
  | 's3'
  | 'servicequotas'
  | 'ssm'
  | 'sts';

/** As the AWS CLI and the CDK; the aws-cn partition has no FIPS endpoints. */
const fips = (): string => (process.env.AWS_USE_FIPS_ENDPOINT === 'true' ? '-fips' : '');

/**
 * The service's host, and the region to sign for: IAM is one service for each partition, in one region of it (IAM:
 * endpoints and quotas).
 */
export const endpointOf = (service: Service, region: string): { host: string; signedFor: string } => {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  if (service !== 'iam') return { host: `${service}${fips()}.${region}.${suffix}`, signedFor: region };
  if (region.startsWith('cn-')) return { host: `iam.cn-north-1.${suffix}`, signedFor: 'cn-north-1' };
  if (region.startsWith('us-gov-')) return { host: `iam.us-gov.${suffix}`, signedFor: 'us-gov-west-1' };
  return { host: `iam${fips()}.${suffix}`, signedFor: 'us-east-1' };
};

/** Keys derived for a day, region and service: `stepform verify` signs thousands of requests. */
const cache = new Map<string, ArrayBuffer>();

/** One action. @throws {Error} without a response */
export const ask = async (
  service: Service,
  { region, credentials }: Caller,
  { path = '/', ...init }: RequestInit & { path?: string },
): Promise<Answer> => {
  const endpoint = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] || process.env.AWS_ENDPOINT_URL;
  const { host, signedFor } = endpointOf(service, region);
  const client = new AwsClient({ ...credentials, service, region: signedFor, retries: 1, cache });
  const url = (endpoint || `https://${host}`).replace(/\/$/, '') + path;
  const response = await client.fetch(url, { method: 'POST', signal: AbortSignal.timeout(patienceMs), ...init });
  return { ok: response.ok, text: await response.text() };
};

/** An action of a query service. */
export const query = (
  service: 'cloudformation' | 'ec2' | 'iam' | 'sts',
  caller: Caller,
  parameters: Record<string, string>,
): Promise<Answer> =>
  ask(service, caller, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(parameters).toString(),
  });

/** An action of a JSON service. @param target with the service's prefix */
export const call = (
  service: 'acm' | 'dynamodb' | 'kms' | 'servicequotas' | 'ssm',
  caller: Caller,
  target: string,
  input: object,
): Promise<Answer> =>
  ask(service, caller, {
    headers: {
      'content-type': `application/x-amz-json-${service === 'dynamodb' ? '1.0' : '1.1'}`,
      'x-amz-target': target,
    },
    body: JSON.stringify(input),
  });

/** The applied quota; undefined without permission to read it, and in regions without the service. */
export const quotaOf = async (caller: Caller, ServiceCode: string, QuotaCode: string): Promise<number | undefined> => {
  const { ok, text } = await call('servicequotas', caller, 'ServiceQuotasV20190624.GetServiceQuota', {
    ServiceCode,
    QuotaCode,
  });
  return ok ? (JSON.parse(text) as { Quota?: { Value?: number } }).Quota?.Value : undefined;
};

export const increase = (region: string, service: string, code: string, value: number): string =>
  `aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${value}`;
