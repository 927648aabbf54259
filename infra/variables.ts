import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { environmentVariable } from './environments.ts';
import { githubAppVariable } from './github-app.ts';
import type { IdentityKeys } from './identity.ts';
import { organizationVariable } from './organizations.ts';
import type { Runners } from './runner.ts';
import type { Settings } from './settings.ts';
import { signInVariable } from './sign-in.ts';
import type { Storage } from './storage.ts';
import { warmRunnerVariable } from './warm-runners.ts';

/** What functions may be given. The last ones are made of functions, and so later than those. */
export interface Parts {
  settings: Settings;
  storage: Storage;
  identity: IdentityKeys;
  publicUrl: string;
  runners: Runners;
  lostEvents: sqs.Queue;
  environmentsUrl: string;
  environmentSocketUrl: string;
  notify?: lambda.IFunction;
  environmentSettle?: lambda.IFunction;
  environmentSweep?: lambda.IFunction;
  dataRetention?: lambda.IFunction;
  commitStatus?: lambda.IFunction;
  fetchCommit?: lambda.IFunction;
  fetchProvider?: lambda.IFunction;
  machine?: sfn.StateMachine;
  versionControlEvent?: lambda.IFunction;
}

type PartName =
  | 'notify'
  | 'environmentSettle'
  | 'environmentSweep'
  | 'dataRetention'
  | 'commitStatus'
  | 'fetchCommit'
  | 'fetchProvider'
  | 'machine'
  | 'versionControlEvent';

/** @throws {Error} for a declaration of a function that is made before the part */
export const requirePart = <K extends PartName>(parts: Parts, name: K): NonNullable<Parts[K]> => {
  const part = parts[name];
  if (!part) throw new Error(`A function that needs ${name} is declared for a place where it is made before it.`);
  return part as NonNullable<Parts[K]>;
};

/** The environment variables of functions, in groups that declarations name. */
export const variableGroups = (parts: Parts) => {
  const { settings, storage, identity, publicUrl, runners } = parts;
  return {
    // Whoever changes something may have it to record.
    table: () => ({
      TABLE_NAME: storage.table.tableName,
      AUDIT_RETENTION_DAYS: String(settings.auditRetentionDays),
    }),
    bucket: () => ({ BUCKET_NAME: storage.bucket.bucketName }),
    key: () => ({ KEY_ARN: storage.key.keyArn }),
    cluster: () => ({ CLUSTER_ARN: runners.clusterArn }),
    launch: () => runners.launchEnvironment(publicUrl),
    publicUrl: () => ({ PUBLIC_URL: publicUrl }),
    identity: () => ({ IDENTITY_KEY_ARNS: identity.all.map(({ keyArn }) => keyArn).join(',') }),
    /** For functions that call users' URLs. */
    outbound: () => ({ OUTBOUND_ALLOWED_CIDRS: settings.outboundAllowedCidrs?.join(',') ?? '' }),
    /** For functions that change the status of runs. */
    notify: () => ({
      NOTIFY_FUNCTION: requirePart(parts, 'notify').functionName,
      ENVIRONMENT_SETTLE_FUNCTION: requirePart(parts, 'environmentSettle').functionName,
      COMMIT_STATUS_FUNCTION: requirePart(parts, 'commitStatus').functionName,
    }),
    ipRanges: () => ({
      API_IP_RANGES: settings.apiIpRanges?.join(',') ?? '',
      OUTGOING_IP_RANGES: settings.outgoingIpRanges?.join(',') ?? '',
    }),
    tellPeople: () => ({ NOTIFY_FUNCTION: requirePart(parts, 'notify').functionName }),
    /** Empty where no e-mails are sent. */
    email: () => ({ EMAIL_SENDER: settings.emailSender ?? '' }),
    /** For functions that have statuses of commits posted, and do nothing else to runs. */
    statuses: () => ({ COMMIT_STATUS_FUNCTION: requirePart(parts, 'commitStatus').functionName }),
    commits: () => ({ FETCH_COMMIT_FUNCTION: requirePart(parts, 'fetchCommit').functionName }),
    sharedProviders: () => ({ SHARED_PROVIDER_HOSTS: settings.sharedProviderHosts.join(',') }),
    fetchProvider: () => ({ FETCH_PROVIDER_FUNCTION: requirePart(parts, 'fetchProvider').functionName }),
    /** Empty where the image has the program. */
    runnerProgram: () => ({ RUNNER_PROGRAM_BUCKET: runners.program?.bucketName ?? '' }),
    versionControl: () => ({
      VERSION_CONTROL_EVENT_FUNCTION: requirePart(parts, 'versionControlEvent').functionName,
    }),
    machine: () => ({ STATE_MACHINE_ARN: requirePart(parts, 'machine').stateMachineArn }),
    requestLimit: () => ({ REQUESTS_PER_SECOND: String(settings.requestsPerSecond) }),
    organizationRules: () => ({ ORGANIZATION_RULES: organizationVariable(settings) }),
    signIn: () => ({ SIGN_IN: signInVariable(settings) }),
    /** Empty where there is no GitHub App. */
    githubApp: () => ({ GITHUB_APP: githubAppVariable(settings) }),
    environments: () => ({
      ENVIRONMENTS_URL: parts.environmentsUrl,
      ENVIRONMENT_SOCKET_URL: parts.environmentSocketUrl,
      ENVIRONMENTS_DEBUG: environmentVariable(settings),
    }),
    environmentSweep: () => ({ ENVIRONMENT_SWEEP_FUNCTION: requirePart(parts, 'environmentSweep').functionName }),
    dataRetention: () => ({ DATA_RETENTION_FUNCTION: requirePart(parts, 'dataRetention').functionName }),
    socket: () => ({ ENVIRONMENT_SOCKET_URL: parts.environmentSocketUrl }),
    /** Empty where none are to stand ready. */
    warmRunners: () => ({ WARM_RUNNERS: warmRunnerVariable(settings) }),
    runnerTerraform: () => ({
      RUNNER_TERRAFORM_VERSION: settings.terraformEngine === 'terraform' ? settings.terraformVersion : '',
    }),
    runs: () => ({
      TERRAFORM_ENGINE: settings.terraformEngine,
      HOLD_SECONDS: String(settings.holdSeconds),
      HEARTBEAT_SECONDS: String(settings.heartbeatSeconds),
    }),
  } satisfies Record<string, () => Record<string, string>>;
};

export type VariableGroup = keyof ReturnType<typeof variableGroups>;
