import { spawnSync } from 'node:child_process';
import { SFNClient } from '@aws-sdk/client-sfn';
import {
  certificateOf,
  type Finding,
  roomForNetwork,
  runtimeInRegion,
  serviceLinkedRole,
  vaultElsewhere,
  zonesWithFargate,
} from './account-checks.ts';
import { type Caller, type Credentials, call, increase, patienceMs, query, quotaOf } from './ask-aws.ts';

/**
 * Checks the prerequisites of a deployment, which would otherwise fail after minutes with one problem at a time.
 */

export interface Preflight {
  account?: string;
  region?: string;
  missing: Finding[];
  /** Default quotas of new accounts with which the platform works, but slowly. */
  low: Finding[];
}

/** The oldest bootstrap stack that the CDK accepts (aws-cdk-lib: MIN_BOOTSTRAP_STACK_VERSION). */
const oldestBootstrap = 6;
/** Qualifier of a bootstrap without its own (CDK: customize bootstrapping). */
const usualQualifier = 'hnb659fds';

/** Region and credentials of the environment or profile, as for the AWS CLI. */
export const configuration = async (): Promise<{ region?: string; credentials?: Credentials }> => {
  const { config } = new SFNClient({});
  const orNothing = <T>(promise: Promise<T>): Promise<T | undefined> => promise.catch(() => undefined);
  // Functions of the SDK may throw synchronously.
  const region = await orNothing((async () => config.region())());
  const credentials = await orNothing((async () => config.credentials())());
  return { region, credentials };
};

/** Partitions that the platform is made for; the isolated ones lack services that it needs. */
const partitionOf = (region: string): string => {
  if (region.startsWith('cn-')) return 'aws-cn';
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws';
};

const accountOf = async (caller: Caller): Promise<string | Finding> => {
  const { ok, text } = await query('sts', caller, { Action: 'GetCallerIdentity', Version: '2011-06-15' });
  const account = /<Account>(\d+)<\/Account>/.exec(text)?.[1];
  const partition = /<Arn>arn:([^:]+):/.exec(text)?.[1];
  if (ok && account) {
    if (partition === undefined || partition === partitionOf(caller.region)) return account;
    return {
      what: `Region: ${caller.region} is not in the partition of these credentials (${partition}).`,
      todo: 'Choose a region of that partition, or other credentials. Supported: aws, aws-cn, aws-us-gov.',
    };
  }
  const reason = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? text.slice(0, 200);
  return { what: `Credentials: AWS rejected them (${reason}).`, todo: 'Sign in again, e.g. aws sso login.' };
};

const bootstrapOf = async (caller: Caller, account: string, qualifier: string): Promise<Finding[]> => {
  const { region } = caller;
  const own =
    qualifier === usualQualifier ? '' : ` --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`;
  const todo = `npx cdk bootstrap aws://${account}/${region}${own}`;
  const { ok, text } = await call('ssm', caller, 'AmazonSSM.GetParameter', {
    Name: `/cdk-bootstrap/${qualifier}/version`,
  });
  const called = own ? `CDK bootstrap (${qualifier})` : 'CDK bootstrap';
  if (ok) {
    const version = Number((JSON.parse(text) as { Parameter?: { Value?: string } }).Parameter?.Value);
    if (version >= oldestBootstrap) return [];
    return [{ what: `${called}: version ${version} of ${account} in ${region} is too old.`, todo }];
  }
  if (text.includes('ParameterNotFound')) {
    return [{ what: `${called}: ${account} is not bootstrapped in ${region}.`, todo }];
  }
  // Users with only the right to assume the CDK's roles cannot read the version; `cdk deploy` checks it again.
  if (text.includes('AccessDenied')) return [];
  return [{ what: `${called}: its version in ${region} cannot be read (${text.slice(0, 200)}).`, todo }];
};

/** Minimum quotas (infra/docs/costs.md). */
const quotas = [
  { service: 'lambda', code: 'L-B99A9384', name: 'Lambda: concurrent executions', enough: 100, request: 1000 },
  { service: 'fargate', code: 'L-3032A538', name: 'Fargate: On-Demand vCPUs', enough: 10, request: 64 },
];

const lowQuota = async (
  caller: Caller,
  { service, code, name, enough, request }: (typeof quotas)[number],
): Promise<Finding[]> => {
  const value = await quotaOf(caller, service, code);
  if (value === undefined || value >= enough) return [];
  const what = `${name}: ${value} in ${caller.region}. Runs will wait for each other.`;
  return [{ what, todo: increase(caller.region, service, code, request) }];
};

/** Low quotas, and the number of quotas that can be read. */
export const quotaFindings = async (caller: Caller): Promise<{ known: number; low: Finding[] }> => {
  const values = await Promise.all(quotas.map(({ service, code }) => quotaOf(caller, service, code)));
  const low = await Promise.all(quotas.map((quota) => lowQuota(caller, quota)));
  return { known: values.filter((value) => value !== undefined).length, low: low.flat() };
};

/** A check that fails reports nothing: the deployment may still work. */
const all = async (checks: Promise<Finding[]>[]): Promise<Finding[]> =>
  (await Promise.all(checks.map((check) => check.catch(() => [])))).flat();

/** @param context of the CDK: settings and its own keys */
const accountFindings = async (
  caller: Caller,
  account: string,
  context: Record<string, unknown>,
): Promise<Pick<Preflight, 'missing' | 'low'>> => {
  const qualifier = String(context['@aws-cdk/core:bootstrapQualifier'] ?? usualQualifier);
  const bootstrap = await bootstrapOf(caller, account, qualifier);
  const makesNetwork = context.vpcId === undefined;
  const network = makesNetwork
    ? [roomForNetwork(caller, String(context.stackName ?? 'Stepform')), zonesWithFargate(caller)]
    : [];
  const { domainName, environmentsDomainName, certificateArn, backupVaultArn } = context;
  const names = [domainName, environmentsDomainName].filter((name) => name !== undefined).map(String);
  const certificate = certificateArn === undefined ? [] : [certificateOf(caller, String(certificateArn), names)];
  const backup = backupVaultArn === undefined ? [] : [vaultElsewhere(caller, account, String(backupVaultArn))];
  const missing = await all([
    serviceLinkedRole(caller),
    runtimeInRegion(caller),
    ...network,
    ...certificate,
    ...backup,
  ]);
  return { missing: [...bootstrap, ...missing], low: await all(quotas.map((quota) => lowQuota(caller, quota))) };
};

/** Docker's names of its own architecture, and of those that it can build for. */
const platforms: Record<string, string> = { x86_64: 'linux/amd64', aarch64: 'linux/arm64', arm64: 'linux/arm64' };

/** @param architecture of the runners */
const dockerOf = (architecture: string, publicImage: string): Finding | undefined => {
  const docker = process.env.CDK_DOCKER || 'docker';
  const run = (...args: string[]) => spawnSync(docker, args, { encoding: 'utf8', timeout: patienceMs });
  const { status, error, stdout } = run('info', '--format', '{{.ServerVersion}} {{.Architecture}}');
  if (error) {
    return {
      what: `Docker: ${docker} not found on the PATH.`,
      todo: `Install Docker, set CDK_DOCKER to finch or podman, or build no image: -c runnerImage=${publicImage}`,
    };
  }
  if (status !== 0 || !stdout.trim())
    return { what: `Docker: ${docker} is installed, but its daemon is not running.`, todo: 'Start it.' };
  const own = platforms[stdout.trim().split(' ')[1] ?? ''];
  const needed = platforms[architecture];
  if (!own || !needed || own === needed) return undefined;
  // Lists emulated platforms too (Docker: buildx inspect).
  const builder = run('buildx', 'inspect');
  if (builder.status !== 0 || builder.stdout.includes(needed)) return undefined;
  return {
    what: `Docker: it cannot build the runners' image for ${needed} on ${own}.`,
    todo: `Install the emulation: ${docker} run --privileged --rm tonistiigi/binfmt --install ${needed.split('/')[1]}`,
  };
};

/**
 * Finds all missing prerequisites that can be checked. Changes nothing.
 * @param context of the CDK, with the settings of the deployment
 * @param publicImage for runners without Docker
 */
export const preflight = async (
  context: Record<string, unknown> = {},
  publicImage = 'public.ecr.aws/docker/library/node:24-bookworm',
): Promise<Preflight> => {
  const { region, credentials } = await configuration();
  const missing: Finding[] = [];
  if (!region) missing.push({ what: 'Region: not set.', todo: 'Set AWS_REGION, or a region in your AWS profile.' });
  if (!credentials) {
    const todo = 'Set AWS_PROFILE, or sign in, e.g. aws configure sso or aws configure.';
    missing.push({ what: 'Credentials: not found.', todo });
  }
  let account: string | undefined;
  let low: Finding[] = [];
  if (region && credentials) {
    const caller = { region, credentials };
    try {
      const answer = await accountOf(caller);
      if (typeof answer === 'string') {
        account = answer;
        const findings = await accountFindings(caller, account, context);
        missing.push(...findings.missing);
        low = findings.low;
      } else missing.push(answer);
    } catch (error) {
      const { message, cause } = error as Error;
      const reason = cause instanceof Error ? cause.message : message;
      missing.push({
        what: `AWS: no response from ${region} (${reason}).`,
        todo: 'Check the region’s name and your network.',
      });
    }
  }
  const docker =
    context.runnerImage === undefined
      ? dockerOf(String(context.runnerArchitecture ?? 'x86_64'), publicImage)
      : undefined;
  if (docker) missing.push(docker);
  return { account, region, missing, low };
};
