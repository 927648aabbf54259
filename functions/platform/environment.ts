import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { WarmRunners } from '#run/warm-runners.ts';

/** Environment variables of every function, read only in this file. A function has only those that it needs. */

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

/** The OpenID Connect issuer at which users sign in; from the operator's settings (infra/stack/sign-in.ts). */
export interface SignInSettings {
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
  /** E-mail domains that may sign in; empty: every user of the issuer. */
  emailDomains: string[];
  /** Treats the issuer's e-mail addresses as verified without its confirmation. */
  trustEmails: boolean;
  /** URL of this platform for browsers, if it differs from the functions' URL; without a trailing slash. */
  baseUrl?: string;
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
}

/** Services that are called without the AWS SDK, which reads the same variables for other services. */
type PlainService = 'S3' | 'KMS' | 'LAMBDA' | 'PRICING' | 'SSM' | 'SESV2' | 'EXECUTE_API';

/** Getters, so that a function without, for example, a bucket never fails on the missing variable. */
export const environment = {
  /** @throws {Error} if FIPS endpoints are required: requests without the SDK do not use them */
  get region() {
    if (process.env.AWS_USE_FIPS_ENDPOINT === 'true')
      throw new Error('AWS_USE_FIPS_ENDPOINT is not supported: unset it for the functions of this platform');
    return required('AWS_REGION');
  },
  /** Lambda sets these for every function; `sessionToken` is absent only for long-lived keys. */
  get credentials() {
    return {
      accessKeyId: required('AWS_ACCESS_KEY_ID'),
      secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
      sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
    };
  },
  /** URL of a service outside AWS, from the SDKs' own variables. Without a trailing slash. */
  endpoint(service: PlainService): string | undefined {
    const url = process.env[`AWS_ENDPOINT_URL_${service}`] || process.env.AWS_ENDPOINT_URL;
    return url?.replace(/\/+$/, '');
  },
  /** Trace header of the invocation, which the Lambda runtime sets. */
  get trace() {
    return process.env._X_AMZN_TRACE_ID || undefined;
  },
  /** Maximum attempts of a call to AWS; the variable is the SDKs' own. */
  get maxAttempts() {
    return Number(process.env.AWS_MAX_ATTEMPTS || 4);
  },
  get tableName() {
    return required('TABLE_NAME');
  },
  get bucketName() {
    return required('BUCKET_NAME');
  },
  get keyArn() {
    return required('KEY_ARN');
  },
  /** The keys that verify workload identity tokens; the first one signs. */
  get identityKeyArns() {
    return required('IDENTITY_KEY_ARNS').split(',');
  },
  get stateMachineArn() {
    return required('STATE_MACHINE_ARN');
  },
  /**
   * Base URL of the HTTP API, without a trailing slash; for the runner's container, and for functions that sign tokens.
   */
  get publicUrl() {
    return required('PUBLIC_URL');
  },
  /** Ranges of internal addresses that users' URLs may reach, in addition to the internet. */
  get outboundAllowedCidrs() {
    return (process.env.OUTBOUND_ALLOWED_CIDRS ?? '').split(',').filter(Boolean);
  },
  /** Sender of e-mails; undefined if none are sent. */
  get emailSender() {
    return process.env.EMAIL_SENDER || undefined;
  },
  /** IP ranges of the platform, as configured by the operator. */
  get ipRanges() {
    const listed = (name: string) => (process.env[name] ?? '').split(',').filter(Boolean);
    return { api: listed('API_IP_RANGES'), outgoing: listed('OUTGOING_IP_RANGES') };
  },
  /** Undefined if users sign in with tokens only. */
  get signIn(): SignInSettings | undefined {
    const text = process.env.SIGN_IN;
    return text ? (JSON.parse(text) as SignInSettings) : undefined;
  },
  /** Undefined if the operator configured none. */
  get githubApp(): GithubAppSettings | undefined {
    const text = process.env.GITHUB_APP;
    return text ? (JSON.parse(text) as GithubAppSettings) : undefined;
  },
  get organizationRules(): OrganizationRules {
    const text = process.env.ORGANIZATION_RULES;
    return text ? (JSON.parse(text) as OrganizationRules) : { creators: 'anyone' };
  },
  /**
   * The only organization whose runs start on this machine; undefined on AWS, and without a restriction
   * (STEPFORM_RUNS_OF).
   */
  get runsOf() {
    return process.env.RUNS_OF || undefined;
  },
  /** Seconds that a run task may take between two progress updates (STEPFORM_RUN_TASK_SECONDS); on AWS always 600. */
  get runTaskSeconds() {
    return Number(process.env.RUN_TASK_SECONDS || 600);
  },
  /** Rate limit of one caller of the public API. */
  get requestsPerSecond() {
    return Number(process.env.REQUESTS_PER_SECOND || 30);
  },
  /** Maximum wait of a log request for new output. */
  get logWaitMs() {
    return Number(process.env.LOG_WAIT_MS || 0);
  },
  /** Retention of audit trail events. */
  get auditRetentionDays() {
    return Number(process.env.AUDIT_RETENTION_DAYS || 90);
  },
  /** Name of the function that sends notifications of runs. */
  get notifyFunction() {
    return required('NOTIFY_FUNCTION');
  },
  /** Name of the function that sends the traces of runs. */
  get traceFunction() {
    return required('TRACE_FUNCTION');
  },
  /**
   * Base URL of the operator's receiver of traces (OTLP over HTTP), without a trailing slash; undefined if there is none.
   */
  get otlpEndpoint() {
    return process.env.OTLP_ENDPOINT || undefined;
  },
  /**
   * Headers for it: `parameter` is the name of the SecureString in Parameter Store with them; `text` are the headers
   * themselves, on one machine, which has no Parameter Store.
   */
  get otlpHeaders() {
    return { parameter: process.env.OTLP_HEADERS_PARAMETER || undefined, text: process.env.OTLP_HEADERS ?? '' };
  },
  /** Name of the function that sends logs of environments to their followers. */
  get environmentLogsFunction() {
    return required('ENVIRONMENT_LOGS_FUNCTION');
  },
  /** Name of the function that records the results of environment builds. */
  get environmentSettleFunction() {
    return required('ENVIRONMENT_SETTLE_FUNCTION');
  },
  /** Name of the function that processes due environments. */
  get environmentSweepFunction() {
    return required('ENVIRONMENT_SWEEP_FUNCTION');
  },
  /** Name of the function that applies data retention policies. */
  get dataRetentionFunction() {
    return required('DATA_RETENTION_FUNCTION');
  },
  /** Base URL of the environments' API, without a trailing slash. */
  get environmentsUrl() {
    return required('ENVIRONMENTS_URL');
  },
  /** Whether owners can request Terraform's debug log of a build. */
  get environmentsDebug() {
    return process.env.ENVIRONMENTS_DEBUG === 'true';
  },
  /** WebSocket URL at which environment logs are followed and posted. */
  get environmentSocketUrl() {
    return required('ENVIRONMENT_SOCKET_URL');
  },
  /** Name of the function that handles version control events. */
  get versionControlEventFunction() {
    return required('VERSION_CONTROL_EVENT_FUNCTION');
  },
  /** Name of the function that fetches commits. */
  get fetchCommitFunction() {
    return required('FETCH_COMMIT_FUNCTION');
  },
  /** Name of the function that fetches providers. */
  get fetchProviderFunction() {
    return required('FETCH_PROVIDER_FUNCTION');
  },
  /** Public registries whose providers are kept for all runs. */
  get sharedProviderHosts() {
    return (process.env.SHARED_PROVIDER_HOSTS ?? '').split(',').filter(Boolean);
  },
  /** Bucket of CDK assets; undefined if the runners' image contains their program. */
  get runnerProgramBucket() {
    return process.env.RUNNER_PROGRAM_BUCKET || undefined;
  },
  /** Name of the function that posts statuses of commits. */
  get commitStatusFunction() {
    return required('COMMIT_STATUS_FUNCTION');
  },
  get clusterArn() {
    return required('CLUSTER_ARN');
  },
  get taskDefinitionArn() {
    return required('TASK_DEFINITION_ARN');
  },
  get containerName() {
    return required('CONTAINER_NAME');
  },
  get subnets() {
    return required('SUBNETS').split(',');
  },
  /** Whether a container needs a public IP to reach the internet. */
  get assignPublicIp() {
    return required('ASSIGN_PUBLIC_IP') === 'true';
  },
  get securityGroups() {
    return required('SECURITY_GROUPS').split(',');
  },
  /** Warm runners, started before a run needs them; undefined for none. */
  get warmRunners(): WarmRunners | undefined {
    const text = process.env.WARM_RUNNERS;
    return text ? (JSON.parse(text) as WarmRunners) : undefined;
  },
  get engine() {
    return required('TERRAFORM_ENGINE') === 'tofu' ? ('tofu' as const) : ('terraform' as const);
  },
  /** Version of Terraform in the runners' image; undefined if it contains OpenTofu. */
  get runnerTerraformVersion() {
    return process.env.RUNNER_TERRAFORM_VERSION || undefined;
  },
  get readySeconds() {
    return Number(required('READY_SECONDS'));
  },
  get heartbeatSeconds() {
    return Number(required('HEARTBEAT_SECONDS'));
  },
  /** Folders that are searched for programs; on AWS they include those of layers. */
  get searchPath() {
    return [...(process.env.PATH ?? '').split(delimiter), '/opt/bin'].filter(Boolean);
  },
  /** Folder for downloaded programs; on AWS it lasts as long as the function's instance. */
  get cacheDirectory() {
    return process.env.STEPFORM_CACHE || join(tmpdir(), 'stepform');
  },
  /** URL of OPA's releases, or of a mirror with the same layout. Checksums are always verified. */
  get opaReleases() {
    return process.env.STEPFORM_OPA_RELEASES || 'https://github.com/open-policy-agent/opa/releases/download';
  },
  /** URL of Terraform's releases, or of a mirror with the same layout. */
  get terraformReleases() {
    return process.env.STEPFORM_TERRAFORM_RELEASES || 'https://releases.hashicorp.com/terraform';
  },
};
