import { spawnSync } from 'node:child_process';
import { SFNClient } from '@aws-sdk/client-sfn';
import { AwsClient } from 'aws4fetch';

/**
 * Checks the prerequisites of a deployment, which would otherwise fail after minutes with one problem at a time.
 */

export interface Missing {
  what: string;
  todo: string;
}

export interface Preflight {
  account?: string;
  region?: string;
  missing: Missing[];
  /** Default quotas of new accounts with which the platform works, but slowly. */
  low: Missing[];
}

type Credentials = Awaited<ReturnType<SFNClient['config']['credentials']>>;

/** The oldest bootstrap stack that the CDK accepts (aws-cdk-lib: MIN_BOOTSTRAP_STACK_VERSION). */
const oldestBootstrap = 6;
const patienceMs = 20_000;

const configuration = async (): Promise<{ region?: string; credentials?: Credentials }> => {
  const { config } = new SFNClient({});
  const orNothing = <T>(promise: Promise<T>): Promise<T | undefined> => promise.catch(() => undefined);
  // Functions of the SDK may throw synchronously.
  const region = await orNothing((async () => config.region())());
  const credentials = await orNothing((async () => config.credentials())());
  return { region, credentials };
};

const partitionSuffix = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com');

/** Calls one action of a JSON or query service. @throws {Error} without a response */
const ask = async (
  service: 'sts' | 'ssm' | 'servicequotas',
  region: string,
  credentials: Credentials,
  init: RequestInit,
) => {
  const endpoint = process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] || process.env.AWS_ENDPOINT_URL;
  const url = endpoint || `https://${service}.${region}.${partitionSuffix(region)}/`;
  const client = new AwsClient({ ...credentials, service, region, retries: 1 });
  const response = await client.fetch(url, { method: 'POST', signal: AbortSignal.timeout(patienceMs), ...init });
  return { ok: response.ok, text: await response.text() };
};

const accountOf = async (region: string, credentials: Credentials): Promise<string | Missing> => {
  const { ok, text } = await ask('sts', region, credentials, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Action=GetCallerIdentity&Version=2011-06-15',
  });
  const account = /<Account>(\d+)<\/Account>/.exec(text)?.[1];
  if (ok && account) return account;
  const reason = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? text.slice(0, 200);
  return { what: `Credentials: AWS rejected them (${reason}).`, todo: 'Sign in again, e.g. aws sso login.' };
};

const bootstrapOf = async (region: string, credentials: Credentials, account: string): Promise<Missing | undefined> => {
  const todo = `npx cdk bootstrap aws://${account}/${region}`;
  const { ok, text } = await ask('ssm', region, credentials, {
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AmazonSSM.GetParameter' },
    body: JSON.stringify({ Name: '/cdk-bootstrap/hnb659fds/version' }),
  });
  if (ok) {
    const version = Number((JSON.parse(text) as { Parameter?: { Value?: string } }).Parameter?.Value);
    if (version >= oldestBootstrap) return undefined;
    return { what: `CDK bootstrap: version ${version} of ${account} in ${region} is too old.`, todo };
  }
  if (text.includes('ParameterNotFound')) {
    return { what: `CDK bootstrap: ${account} is not bootstrapped in ${region}.`, todo };
  }
  // Users with only the right to assume the CDK's roles cannot read the version; `cdk deploy` checks it again.
  if (text.includes('AccessDenied')) return undefined;
  return { what: `CDK bootstrap: its version in ${region} cannot be read (${text.slice(0, 200)}).`, todo };
};

/** Minimum quotas (infra/docs/costs.md). */
const quotas = [
  { service: 'lambda', code: 'L-B99A9384', name: 'Lambda: concurrent executions', enough: 100, request: 1000 },
  { service: 'fargate', code: 'L-3032A538', name: 'Fargate: On-Demand vCPUs', enough: 10, request: 64 },
];

const lowQuota = async (
  region: string,
  credentials: Credentials,
  { service, code, name, enough, request }: (typeof quotas)[number],
): Promise<Missing[]> => {
  const { ok, text } = await ask('servicequotas', region, credentials, {
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'ServiceQuotasV20190624.GetServiceQuota',
    },
    body: JSON.stringify({ ServiceCode: service, QuotaCode: code }),
  });
  const value = ok ? (JSON.parse(text) as { Quota?: { Value?: number } }).Quota?.Value : undefined;
  if (value === undefined || value >= enough) return [];
  const increase = `--service-code ${service} --quota-code ${code} --desired-value ${request}`;
  const todo = `aws service-quotas request-service-quota-increase --region ${region} ${increase}`;
  return [{ what: `${name}: ${value} in ${region}. Runs will wait for each other.`, todo }];
};

/** Empty without permission to read quotas, and in regions without the service: a deployment works nevertheless. */
const lowQuotas = async (region: string, credentials: Credentials): Promise<Missing[]> => {
  const findings = await Promise.all(quotas.map((quota) => lowQuota(region, credentials, quota).catch(() => [])));
  return findings.flat();
};

const withoutImage = '-c runnerImage=public.ecr.aws/docker/library/node:24-bookworm';

const dockerOf = (): Missing | undefined => {
  const docker = process.env.CDK_DOCKER || 'docker';
  const { status, error, stdout } = spawnSync(docker, ['info', '--format', '{{.ServerVersion}}'], {
    encoding: 'utf8',
    timeout: patienceMs,
  });
  if (status === 0 && stdout.trim()) return undefined;
  return error
    ? {
        what: `Docker: ${docker} not found on the PATH.`,
        todo: `Install Docker, set CDK_DOCKER to finch or podman, or build no image: ${withoutImage}`,
      }
    : { what: `Docker: ${docker} is installed, but its daemon is not running.`, todo: 'Start it.' };
};

/**
 * Finds all missing prerequisites that can be checked. Changes nothing.
 * @param buildsImage with Docker on this machine
 */
export const preflight = async ({ buildsImage = true } = {}): Promise<Preflight> => {
  const { region, credentials } = await configuration();
  const missing: Missing[] = [];
  if (!region) missing.push({ what: 'Region: not set.', todo: 'Set AWS_REGION, or a region in your AWS profile.' });
  if (!credentials) {
    const todo = 'Set AWS_PROFILE, or sign in, e.g. aws configure sso or aws configure.';
    missing.push({ what: 'Credentials: not found.', todo });
  }
  let account: string | undefined;
  let low: Missing[] = [];
  if (region && credentials) {
    try {
      const answer = await accountOf(region, credentials);
      if (typeof answer === 'string') account = answer;
      else missing.push(answer);
      const bootstrap = account && (await bootstrapOf(region, credentials, account));
      if (bootstrap) missing.push(bootstrap);
      if (account) low = await lowQuotas(region, credentials);
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = cause instanceof Error ? cause.message : message;
      missing.push({
        what: `AWS: no response from ${region} (${reason}).`,
        todo: 'Check the region’s name and your network.',
      });
    }
  }
  const docker = buildsImage ? dockerOf() : undefined;
  if (docker) missing.push(docker);
  return { account, region, missing, low };
};
