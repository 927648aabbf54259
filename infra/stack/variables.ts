import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { Settings } from '#infra/settings/settings.ts';
import { environmentVariable } from './environments.ts';
import { githubAppVariable } from './github-app.ts';
import type { IdentityKeys } from './identity.ts';
import { maxRunnerVariable } from './max-runners.ts';
import { organizationVariable } from './organizations.ts';
import type { Runners } from './runner.ts';
import { signInVariable } from './sign-in.ts';
import type { PlatformStorage } from './storage.ts';
import { endpointVariable, traceVariables } from './traces.ts';
import { warmRunnerVariable } from './warm-runners.ts';

/** Functions that other functions invoke. */
export type InvokedPart =
  | 'notify'
  | 'trace'
  | 'environmentLogs'
  | 'environmentSettle'
  | 'environmentSweep'
  | 'dataRetention'
  | 'commitStatus'
  | 'compilePolicies'
  | 'fetchCommit'
  | 'fetchProvider'
  | 'versionControlEvent';

/** Resources whose names functions need. Names of functions are known later than the others. */
export interface Parts extends Partial<Record<InvokedPart, lambda.IFunction>> {
  settings: Settings;
  storage: PlatformStorage;
  identity: IdentityKeys;
  publicUrl: string;
  runners: Runners;
  lostEvents: sqs.Queue;
  environmentsUrl: string;
  environmentSocketUrl: string;
  machine?: sfn.StateMachine;
}

/** @throws {Error} if the function is created before the part that it needs */
export const requirePart = <K extends InvokedPart | 'machine'>(parts: Parts, name: K): NonNullable<Parts[K]> => {
  const part = parts[name];
  if (!part) throw new Error(`A function needs ${name}, but is created before it.`);
  return part as NonNullable<Parts[K]>;
};

/** The environment variables of functions, in groups that declarations name. */
export const variableGroups = (parts: Parts) =>
  ({
    ...resourceVariables(parts),
    ...functionVariables(parts),
    ...settingVariables(parts),
  }) satisfies Record<string, () => Record<string, string>>;

/** Names and addresses of the stack's resources. */
const resourceVariables = (parts: Parts) => {
  const { settings, storage, identity, publicUrl, runners } = parts;
  return {
    // Every function with write access may have to record an event.
    table: () => ({
      TABLE_NAME: storage.table.tableName,
      AUDIT_RETENTION_DAYS: String(settings.auditRetentionDays),
    }),
    bucket: () => ({ BUCKET_NAME: storage.bucket.bucketName }),
    key: () => ({ KEY_ARN: storage.key.keyArn }),
    identity: () => ({ IDENTITY_KEY_ARNS: identity.all.map(({ keyArn }) => keyArn).join(',') }),
    cluster: () => ({ CLUSTER_ARN: runners.clusterArn }),
    launch: () => runners.launchEnvironment(publicUrl),
    /** Empty if the image contains the program. */
    runnerProgram: () => ({ RUNNER_PROGRAM_BUCKET: runners.program?.bucketName ?? '' }),
    /** A new run records that it is limited and, if it is traced, the request that created it. */
    machine: () => ({
      STATE_MACHINE_ARN: requirePart(parts, 'machine').stateMachineArn,
      MAX_RUNNERS: maxRunnerVariable(settings),
      ...endpointVariable(settings),
    }),
    publicUrl: () => ({ PUBLIC_URL: publicUrl }),
    environments: () => ({
      ENVIRONMENTS_URL: parts.environmentsUrl,
      ENVIRONMENT_SOCKET_URL: parts.environmentSocketUrl,
      ENVIRONMENTS_DEBUG: environmentVariable(settings),
    }),
    socket: () => ({ ENVIRONMENT_SOCKET_URL: parts.environmentSocketUrl }),
  };
};

/** Names of the functions that a function invokes. */
const functionVariables = (parts: Parts) => {
  const nameOf = (part: InvokedPart): string => requirePart(parts, part).functionName;
  return {
    /** For functions that change the status of runs. */
    notify: () => ({
      NOTIFY_FUNCTION: nameOf('notify'),
      ENVIRONMENT_LOGS_FUNCTION: nameOf('environmentLogs'),
      ENVIRONMENT_SETTLE_FUNCTION: nameOf('environmentSettle'),
      COMMIT_STATUS_FUNCTION: nameOf('commitStatus'),
      TRACE_FUNCTION: nameOf('trace'),
      ...endpointVariable(parts.settings),
    }),
    tellPeople: () => ({ NOTIFY_FUNCTION: nameOf('notify') }),
    /** For functions that post commit statuses and do not change runs. */
    statuses: () => ({ COMMIT_STATUS_FUNCTION: nameOf('commitStatus') }),
    commits: () => ({ FETCH_COMMIT_FUNCTION: nameOf('fetchCommit') }),
    compilePolicies: () => ({ COMPILE_POLICIES_FUNCTION: nameOf('compilePolicies') }),
    fetchProvider: () => ({ FETCH_PROVIDER_FUNCTION: nameOf('fetchProvider') }),
    versionControl: () => ({ VERSION_CONTROL_EVENT_FUNCTION: nameOf('versionControlEvent') }),
    environmentLogs: () => ({ ENVIRONMENT_LOGS_FUNCTION: nameOf('environmentLogs') }),
    environmentSweep: () => ({ ENVIRONMENT_SWEEP_FUNCTION: nameOf('environmentSweep') }),
    dataRetention: () => ({ DATA_RETENTION_FUNCTION: nameOf('dataRetention') }),
  };
};

/** Settings of the operator; empty if not set. */
const settingVariables = ({ settings }: Parts) => ({
  /** For functions that call users' URLs. */
  outbound: () => ({ OUTBOUND_ALLOWED_CIDRS: settings.outboundAllowedCidrs?.join(',') ?? '' }),
  ipRanges: () => ({
    API_IP_RANGES: settings.apiIpRanges?.join(',') ?? '',
    OUTGOING_IP_RANGES: settings.outgoingIpRanges?.join(',') ?? '',
  }),
  email: () => ({ EMAIL_SENDER: settings.emailSender ?? '' }),
  sharedProviders: () => ({ SHARED_PROVIDER_HOSTS: settings.sharedProviderHosts.join(',') }),
  requestLimit: () => ({ REQUESTS_PER_SECOND: String(settings.requestsPerSecond) }),
  /** A function costs money while it waits: log readers there poll again after half a second to two. */
  logWait: () => ({ LOG_WAIT_MS: '0' }),
  organizationRules: () => ({ ORGANIZATION_RULES: organizationVariable(settings) }),
  signIn: () => ({ SIGN_IN: signInVariable(settings) }),
  githubApp: () => ({ GITHUB_APP: githubAppVariable(settings) }),
  traces: () => traceVariables(settings),
  maxRunners: () => ({ MAX_RUNNERS: maxRunnerVariable(settings) }),
  warmRunners: () => ({ WARM_RUNNERS: warmRunnerVariable(settings) }),
  runnerTerraform: () => ({
    RUNNER_TERRAFORM_VERSION: settings.terraformEngine === 'terraform' ? settings.terraformVersion : '',
  }),
  runs: () => ({
    TERRAFORM_ENGINE: settings.terraformEngine,
    READY_SECONDS: String(settings.readySeconds),
    HEARTBEAT_SECONDS: String(settings.heartbeatSeconds),
  }),
});

export type VariableGroup = keyof ReturnType<typeof variableGroups>;
