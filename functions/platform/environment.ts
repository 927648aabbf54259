import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { SlotLimits } from '#run/slots.ts';
import type { WarmRunners } from '#run/warm-runners.ts';

/** Environment variables of every function, read only in this file. A function has only those that it needs. */

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

const listed = (name: string): string[] => (process.env[name] ?? '').split(',').filter(Boolean);

/** Undefined if the variable is not set. */
const json = <T>(name: string): T | undefined => {
  const text = process.env[name];
  return text ? (JSON.parse(text) as T) : undefined;
};

/** An object with a getter for each function. */
const whenUsed = <T extends Record<string, () => unknown>>(read: T) =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      Object.entries(read).map(([name, get]) => [name, { get, enumerable: true, configurable: true }]),
    ),
  ) as { readonly [Name in keyof T]: ReturnType<T[Name]> };

/** Rules for every way to sign in, and OpenID Connect; from the operator's settings (infra/stack/sign-in.ts). */
export interface SignInSettings {
  /** E-mail domains that may sign in; empty: every user of the identity provider. */
  emailDomains: string[];
  /** Treats the identity provider's e-mail addresses as verified without its confirmation. */
  trustEmails: boolean;
  /** URL of this platform for browsers, if it differs from the functions' URL; without a trailing slash. */
  baseUrl?: string;
  oidc?: OidcSettings;
}

/** The OpenID Connect issuer. */
export interface OidcSettings {
  /** Identifier of the issuer, a URL; its metadata is found below it (OpenID Connect Discovery 1.0 §4). */
  issuer: string;
  clientId: string;
  /** Name of the SecureString in Parameter Store that contains the client's secret. */
  clientSecretParameter?: string;
  /** The secret itself: on one machine, which has no Parameter Store. */
  clientSecret?: string;
  /** Display name. */
  name?: string;
  scopes: string;
  /** Claim with the names of the user's groups; without it, groups have no effect on teams. */
  groupsClaim?: string;
}

/** The platform's GitHub App; from the operator's settings (infra/stack/github-app.ts). */
export interface GithubAppSettings {
  id: number;
  /** Name of the app in GitHub URLs. */
  slug: string;
  clientId: string;
  /** URLs of GitHub's pages and API, without a trailing slash. */
  url: string;
  apiUrl: string;
  /** Names of SecureStrings in Parameter Store: private key (PEM), client secret, and webhook secret. */
  parameters?: Record<GithubAppSecret, string>;
  /** The secrets themselves: on one machine, which has no Parameter Store. */
  secrets?: Record<GithubAppSecret, string>;
}

export type GithubAppSecret = 'key' | 'clientSecret' | 'webhookSecret';

/**
 * Users who can create organizations, and organizations where the issuer's groups map to teams
 * (infra/stack/organizations.ts).
 */
export interface OrganizationRules {
  creators: 'anyone' | 'owners' | 'operator';
  /** Names; absent: organizations that the operator created with Bootstrap. */
  groups?: string[];
  /** The issuer's tokens contain the users' groups. */
  readsGroups?: true;
  /**
   * Name of the organization whose owners set up SAML (resources/sign-in/saml/settings); absent: there is no
   * sign-in with SAML.
   */
  samlAdministrators?: string;
}

/** Services that are called without the AWS SDK, which reads the same variables for other services. */
type PlainService = 'S3' | 'KMS' | 'LAMBDA' | 'PRICING' | 'SSM' | 'SESV2' | 'EXECUTE_API';

/** Read when used, so that a function without, for example, a bucket never fails on the missing variable. */
export const environment = whenUsed({
  /** @throws {Error} if FIPS endpoints are required: requests without the SDK do not use them */
  region: () => {
    if (process.env.AWS_USE_FIPS_ENDPOINT === 'true')
      throw new Error('AWS_USE_FIPS_ENDPOINT is not supported: unset it for the functions of this platform');
    return required('AWS_REGION');
  },
  /** Lambda sets these for every function; `sessionToken` is absent only for long-lived keys. */
  credentials: () => ({
    accessKeyId: required('AWS_ACCESS_KEY_ID'),
    secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
    sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
  }),
  /** URL of a service outside AWS, from the SDKs' own variables. Without a trailing slash. */
  endpoint: () => (service: PlainService) =>
    (process.env[`AWS_ENDPOINT_URL_${service}`] || process.env.AWS_ENDPOINT_URL)?.replace(/\/+$/, ''),
  /** Trace header of the invocation, which the Lambda runtime sets. */
  trace: () => process.env._X_AMZN_TRACE_ID || undefined,
  /** Maximum attempts of a call to AWS; the variable is the SDKs' own. */
  maxAttempts: () => Number(process.env.AWS_MAX_ATTEMPTS || 4),
  tableName: () => required('TABLE_NAME'),
  bucketName: () => required('BUCKET_NAME'),
  keyArn: () => required('KEY_ARN'),
  /** The keys that verify workload identity tokens; the first one signs. */
  identityKeyArns: () => required('IDENTITY_KEY_ARNS').split(','),
  stateMachineArn: () => required('STATE_MACHINE_ARN'),
  /**
   * Base URL of the HTTP API, without a trailing slash; for the runner's container, and for functions that sign tokens.
   */
  publicUrl: () => required('PUBLIC_URL'),
  /** Ranges of internal addresses that users' URLs may reach, in addition to the internet. */
  outboundAllowedCidrs: () => listed('OUTBOUND_ALLOWED_CIDRS'),
  /** Sender of e-mails; undefined if none are sent. */
  emailSender: () => process.env.EMAIL_SENDER || undefined,
  /** IP ranges of the platform, as configured by the operator. */
  ipRanges: () => ({ api: listed('API_IP_RANGES'), outgoing: listed('OUTGOING_IP_RANGES') }),
  /** Undefined if users sign in with tokens only. */
  signIn: () => json<SignInSettings>('SIGN_IN'),
  /** Undefined if the operator configured none. */
  githubApp: () => json<GithubAppSettings>('GITHUB_APP'),
  organizationRules: (): OrganizationRules => json<OrganizationRules>('ORGANIZATION_RULES') ?? { creators: 'anyone' },
  /**
   * The only organization whose runs start on this machine; undefined on AWS, and without a restriction
   * (STEPFORM_RUNS_OF).
   */
  runsOf: () => process.env.RUNS_OF || undefined,
  /** Seconds that a run task may take between two progress updates (STEPFORM_RUN_TASK_SECONDS); on AWS always 600. */
  runTaskSeconds: () => Number(process.env.RUN_TASK_SECONDS || 600),
  /** Seconds between checks whether a commit's archive is still needed; STEPFORM_COMMIT_ARCHIVE_SECONDS on one machine. */
  commitArchiveSeconds: () => Number(process.env.COMMIT_ARCHIVE_SECONDS || 24 * 3600),
  /** Rate limit of one caller of the public API. */
  requestsPerSecond: () => Number(process.env.REQUESTS_PER_SECOND || 30),
  /** Maximum wait of a log request for new output. */
  logWaitMs: () => Number(process.env.LOG_WAIT_MS || 0),
  /** Retention of audit trail events. */
  auditRetentionDays: () => Number(process.env.AUDIT_RETENTION_DAYS || 90),
  /** Name of the function that sends notifications of runs. */
  notifyFunction: () => required('NOTIFY_FUNCTION'),
  /** Name of the function that sends the traces of runs. */
  traceFunction: () => required('TRACE_FUNCTION'),
  /**
   * Base URL of the operator's receiver of traces (OTLP over HTTP), without a trailing slash; undefined if there is none.
   */
  otlpEndpoint: () => process.env.OTLP_ENDPOINT || undefined,
  /**
   * Headers for it: `parameter` is the name of the SecureString in Parameter Store with them; `text` are the headers
   * themselves, on one machine, which has no Parameter Store.
   */
  otlpHeaders: () => ({
    parameter: process.env.OTLP_HEADERS_PARAMETER || undefined,
    text: process.env.OTLP_HEADERS ?? '',
  }),
  /** Name of the function that sends logs of environments to their followers. */
  environmentLogsFunction: () => required('ENVIRONMENT_LOGS_FUNCTION'),
  /** Name of the function that records the results of environment builds. */
  environmentSettleFunction: () => required('ENVIRONMENT_SETTLE_FUNCTION'),
  /** Name of the function that processes due environments. */
  environmentSweepFunction: () => required('ENVIRONMENT_SWEEP_FUNCTION'),
  /** Name of the function that applies data retention policies. */
  dataRetentionFunction: () => required('DATA_RETENTION_FUNCTION'),
  /** Base URL of the environments' API, without a trailing slash. */
  environmentsUrl: () => required('ENVIRONMENTS_URL'),
  /** Whether owners can request Terraform's debug log of a build. */
  environmentsDebug: () => process.env.ENVIRONMENTS_DEBUG === 'true',
  /** WebSocket URL at which environment logs are followed and posted. */
  environmentSocketUrl: () => required('ENVIRONMENT_SOCKET_URL'),
  /** Name of the function that handles version control events. */
  versionControlEventFunction: () => required('VERSION_CONTROL_EVENT_FUNCTION'),
  /** Name of the function that fetches commits. */
  fetchCommitFunction: () => required('FETCH_COMMIT_FUNCTION'),
  /** Name of the function that fetches providers. */
  fetchProviderFunction: () => required('FETCH_PROVIDER_FUNCTION'),
  /** Name of the function that compiles policies. */
  compilePoliciesFunction: () => required('COMPILE_POLICIES_FUNCTION'),
  /** Public registries whose providers are kept for all runs. */
  sharedProviderHosts: () => listed('SHARED_PROVIDER_HOSTS'),
  /** Bucket of CDK assets; undefined if the runners' image contains their program. */
  runnerProgramBucket: () => process.env.RUNNER_PROGRAM_BUCKET || undefined,
  /** Name of the function that posts statuses of commits. */
  commitStatusFunction: () => required('COMMIT_STATUS_FUNCTION'),
  clusterArn: () => required('CLUSTER_ARN'),
  taskDefinitionArn: () => required('TASK_DEFINITION_ARN'),
  containerName: () => required('CONTAINER_NAME'),
  subnets: () => required('SUBNETS').split(','),
  /** Whether a container needs a public IP to reach the internet. */
  assignPublicIp: () => required('ASSIGN_PUBLIC_IP') === 'true',
  securityGroups: () => required('SECURITY_GROUPS').split(','),
  /** Warm runners, started before a run needs them; undefined for none. */
  warmRunners: () => json<WarmRunners>('WARM_RUNNERS'),
  /** Maximum numbers of runners; undefined if the operator set none. */
  maxRunners: () => json<SlotLimits>('MAX_RUNNERS'),
  engine: () => (required('TERRAFORM_ENGINE') === 'tofu' ? ('tofu' as const) : ('terraform' as const)),
  /** Version of Terraform in the runners' image; undefined if it contains OpenTofu. */
  runnerTerraformVersion: () => process.env.RUNNER_TERRAFORM_VERSION || undefined,
  readySeconds: () => Number(required('READY_SECONDS')),
  heartbeatSeconds: () => Number(required('HEARTBEAT_SECONDS')),
  /** Folders that are searched for programs; on AWS they include those of layers. */
  searchPath: () => [...(process.env.PATH ?? '').split(delimiter), '/opt/bin'].filter(Boolean),
  /** Folder for downloaded programs; on AWS it lasts as long as the function's instance. */
  cacheDirectory: () => process.env.STEPFORM_CACHE || join(tmpdir(), 'stepform'),
  /** URL of OPA's releases, or of a mirror with the same layout. Checksums are always verified. */
  opaReleases: () => process.env.STEPFORM_OPA_RELEASES || 'https://github.com/open-policy-agent/opa/releases/download',
  /** URL of Terraform's releases, or of a mirror with the same layout. */
  terraformReleases: () => process.env.STEPFORM_TERRAFORM_RELEASES || 'https://releases.hashicorp.com/terraform',
});
