import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { WarmRunners } from '#run/warm-runners.ts';

/** The environment of every function, read in this file and nowhere else. A function has only what it needs. */

const required = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`environment variable ${name} is not set`);
  return value;
};

/** The issuer that people sign in at (OpenID Connect); from the operator's settings (infra/stack/sign-in.ts). */
export interface SignInSettings {
  /** Its identifier, a URL; its metadata is found below it (OpenID Connect Discovery 1.0 §4). */
  issuer: string;
  clientId: string;
  /** Name of the SecureString of Parameter Store that holds the client's secret. */
  clientSecretParameter?: string;
  /** The secret itself: on one machine, where there is no Parameter Store. */
  clientSecret?: string;
  /** What people call it. */
  name?: string;
  scopes: string;
  /** Who may sign in; anybody whom the issuer lets in when there is none. */
  emailDomains: string[];
  /** Its e-mail addresses count as verified although it does not say so. */
  trustEmails: boolean;
  /** Where browsers reach this platform when that is not where its functions are asked; without a slash at the end. */
  baseUrl?: string;
  /** Claim with the names of the person's groups; without it teams are nobody's business but their managers'. */
  groupsClaim?: string;
}

/** The platform's GitHub App; from the operator's settings (infra/stack/github-app.ts). */
export interface GithubAppSettings {
  id: number;
  /** Its name in addresses at GitHub. */
  slug: string;
  clientId: string;
  /** Where people see GitHub, and where its API is; without a slash at the end. */
  url: string;
  apiUrl: string;
  /** Names of SecureStrings of Parameter Store: private key (PEM), client secret, and secret of its webhook. */
  parameters?: Record<GithubAppSecret, string>;
  /** The secrets themselves: on one machine, where there is no Parameter Store. */
  secrets?: Record<GithubAppSecret, string>;
}

export type GithubAppSecret = 'key' | 'clientSecret' | 'webhookSecret';

/** Who may create organizations, and in which of them groups at the issuer stand for teams (infra/stack/organizations.ts). */
export interface OrganizationRules {
  creators: 'anyone' | 'owners' | 'operator';
  /** Names; absent: those that the operator created with Bootstrap. */
  groups?: string[];
  /** People sign in at an issuer that tells their groups. */
  readsGroups?: true;
}

/** Services that are called without the AWS SDK; it reads the same variables for the others. */
type PlainService = 'S3' | 'KMS' | 'LAMBDA' | 'PRICING' | 'SSM' | 'SESV2' | 'EXECUTE_API';

/** Getters, so that a function without, say, a bucket never trips over its absence. */
export const environment = {
  get region() {
    return required('AWS_REGION');
  },
  /** What Lambda gives every function; `sessionToken` is absent for long-lived keys only. */
  get credentials() {
    return {
      accessKeyId: required('AWS_ACCESS_KEY_ID'),
      secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
      sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
    };
  },
  /** Where a service is, when not in AWS: the SDKs' own variables. Without a slash at the end. */
  endpoint(service: PlainService): string | undefined {
    const url = process.env[`AWS_ENDPOINT_URL_${service}`] || process.env.AWS_ENDPOINT_URL;
    return url?.replace(/\/+$/, '');
  },
  /** How often a call to AWS is tried; the variable is the SDKs' own. */
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
  /** The keys that workload identity tokens are verified with; the first one signs. */
  get identityKeyArns() {
    return required('IDENTITY_KEY_ARNS').split(',');
  },
  get stateMachineArn() {
    return required('STATE_MACHINE_ARN');
  },
  /** Base URL of the HTTP API, without a slash at the end; for the runner's container, and who signs tokens. */
  get publicUrl() {
    return required('PUBLIC_URL');
  },
  /** Ranges of inside addresses that people's URLs may lead to, beside the internet. */
  get outboundAllowedCidrs() {
    return (process.env.OUTBOUND_ALLOWED_CIDRS ?? '').split(',').filter(Boolean);
  },
  /** Address that e-mails come from; undefined where none are sent. */
  get emailSender() {
    return process.env.EMAIL_SENDER || undefined;
  },
  /** What the operator says of the platform's addresses. */
  get ipRanges() {
    const listed = (name: string) => (process.env[name] ?? '').split(',').filter(Boolean);
    return { api: listed('API_IP_RANGES'), outgoing: listed('OUTGOING_IP_RANGES') };
  },
  /** Undefined where people sign in with tokens only. */
  get signIn(): SignInSettings | undefined {
    const text = process.env.SIGN_IN;
    return text ? (JSON.parse(text) as SignInSettings) : undefined;
  },
  /** Undefined where the operator set up none. */
  get githubApp(): GithubAppSettings | undefined {
    const text = process.env.GITHUB_APP;
    return text ? (JSON.parse(text) as GithubAppSettings) : undefined;
  },
  get organizationRules(): OrganizationRules {
    const text = process.env.ORGANIZATION_RULES;
    return text ? (JSON.parse(text) as OrganizationRules) : { creators: 'anyone' };
  },
  /** The only organization whose runs start on this machine; undefined on AWS, and where all may (STEPFORM_RUNS_OF). */
  get runsOf() {
    return process.env.RUNS_OF || undefined;
  },
  /** Of one caller of the public API. */
  get requestsPerSecond() {
    return Number(process.env.REQUESTS_PER_SECOND || 30);
  },
  /** How long a request for a log waits for output that is not there yet. */
  get logWaitMs() {
    return Number(process.env.LOG_WAIT_MS || 0);
  },
  /** How long events of the audit trail are kept. */
  get auditRetentionDays() {
    return Number(process.env.AUDIT_RETENTION_DAYS || 90);
  },
  /** Name of the function that tells people of runs. */
  get notifyFunction() {
    return required('NOTIFY_FUNCTION');
  },
  /** Name of the function that records what became of builds of environments. */
  get environmentSettleFunction() {
    return required('ENVIRONMENT_SETTLE_FUNCTION');
  },
  /** Name of the function that looks at environments whose time has come. */
  get environmentSweepFunction() {
    return required('ENVIRONMENT_SWEEP_FUNCTION');
  },
  /** Name of the function that deletes what data retention policies say. */
  get dataRetentionFunction() {
    return required('DATA_RETENTION_FUNCTION');
  },
  /** Base URL of the environments' API, without a slash at the end. */
  get environmentsUrl() {
    return required('ENVIRONMENTS_URL');
  },
  /** Whether owners may ask for Terraform's debug log of a build. */
  get environmentsDebug() {
    return process.env.ENVIRONMENTS_DEBUG === 'true';
  },
  /** Where logs of environments are followed, by WebSocket, and posted to. */
  get environmentSocketUrl() {
    return required('ENVIRONMENT_SOCKET_URL');
  },
  /** Name of the function that handles what happens at version control. */
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
  /** Bucket of CDK's assets; undefined where the runners' image has their program. */
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
  /** Whether a container needs an address of its own to reach the internet. */
  get assignPublicIp() {
    return required('ASSIGN_PUBLIC_IP') === 'true';
  },
  get securityGroups() {
    return required('SECURITY_GROUPS').split(',');
  },
  /** Runners that stand ready before a run needs them; undefined for none. */
  get warmRunners(): WarmRunners | undefined {
    const text = process.env.WARM_RUNNERS;
    return text ? (JSON.parse(text) as WarmRunners) : undefined;
  },
  get engine() {
    return required('TERRAFORM_ENGINE') === 'tofu' ? ('tofu' as const) : ('terraform' as const);
  },
  /** Of the Terraform in the runners' image; undefined where that has OpenTofu. */
  get runnerTerraformVersion() {
    return process.env.RUNNER_TERRAFORM_VERSION || undefined;
  },
  get holdSeconds() {
    return Number(required('HOLD_SECONDS'));
  },
  get heartbeatSeconds() {
    return Number(required('HEARTBEAT_SECONDS'));
  },
  /** Folders in which programs are looked for; on AWS those of layers are among them. */
  get searchPath() {
    return [...(process.env.PATH ?? '').split(delimiter), '/opt/bin'].filter(Boolean);
  },
  /** Where downloaded programs are kept; on AWS for the life of the function's instance. */
  get cacheDirectory() {
    return process.env.STEPFORM_CACHE || join(tmpdir(), 'stepform');
  },
  /** Where releases of OPA are found; a mirror has the same layout. Checksums are checked all the same. */
  get opaReleases() {
    return process.env.STEPFORM_OPA_RELEASES || 'https://github.com/open-policy-agent/opa/releases/download';
  },
  /** Where releases of Terraform are found; a mirror has the same layout. */
  get terraformReleases() {
    return process.env.STEPFORM_TERRAFORM_RELEASES || 'https://releases.hashicorp.com/terraform';
  },
};
