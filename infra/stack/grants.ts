import * as iam from 'aws-cdk-lib/aws-iam';
import { Aws } from 'aws-cdk-lib/core';
import type { GithubAppSecret } from '#platform/environment.ts';
import { githubAppParameters } from './github-app.ts';
import type { PlatformStorage } from './storage.ts';
import { type InvokedPart, type Parts, requirePart } from './variables.ts';

/** Permissions of a function, in addition to its own log. No other code adds to a function's role. */
export interface Permission {
  actions: string[];
  resources: string[];
  conditions?: Record<string, Record<string, string | string[]>>;
  /** Denied even if another statement allows it. */
  denied?: true;
  /** Why the resource ends in a wildcard. */
  wildcard?: string;
}

export const statement = ({ actions, resources, conditions, denied }: Permission): iam.PolicyStatement =>
  new iam.PolicyStatement({ actions, resources, conditions, effect: denied ? iam.Effect.DENY : iam.Effect.ALLOW });

/**
 * No function can delete or change an event of the audit trail (decisions/0014): IAM sees the partition of a changed
 * item (DynamoDB: condition keys). Events are written with PutItem, whose condition prevents replacing one.
 */
const trailStays = (tableArn: string): Permission => ({
  denied: true,
  actions: ['dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
  resources: [tableArn],
  conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'AUDIT#*' } },
});

/**
 * The minimum that DynamoDB requires of every caller if the table has a customer managed key (DynamoDB: encryption at
 * rest, authorizing use of a customer managed key): it decrypts the table key with the caller's permissions.
 */
const tableKey = ({ key }: PlatformStorage): Permission => ({
  actions: [
    'kms:CreateGrant',
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:GenerateDataKeyWithoutPlaintext',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
  resources: [key.keyArn],
  conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } },
});

/** Adds the consequences of rights on the table: its key, and the limits on functions that change items. */
export const withTableRules = (storage: PlatformStorage, statements: Permission[]): Permission[] => {
  const verbs = statements.flatMap(({ actions }) => actions).filter((action) => action.startsWith('dynamodb:'));
  if (verbs.length === 0) return statements;
  const changes = verbs.some((verb) => /:(Update|Delete)Item/.test(verb));
  return [...statements, tableKey(storage), ...(changes ? [trailStays(storage.table.tableArn)] : [])];
};

type Verb = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem';
type Prefix =
  | 'configurations'
  | 'inputs'
  | 'outcomes'
  | 'policies'
  | 'providers'
  | 'registry'
  | 'runs'
  | 'states'
  | 'uploads';

export type Grants = ReturnType<typeof grants>;

/** The vocabulary for the rights of functions (infra/functions/), by resource. */
export const grants = (parts: Parts) => ({
  ...onTable(parts),
  ...onKey(parts),
  ...onBucket(parts),
  ...onRunners(parts),
  ...onExecutions(parts),
  ...onFunctions(parts),
  ...onIdentityKeys(parts),
  ...onSecrets(parts),
  ...onServices(parts),
});

const onTable = ({ storage: { table } }: Parts) => ({
  table: (...verbs: Verb[]): Permission => ({
    actions: verbs.map((verb) => `dynamodb:${verb}`),
    resources: [table.tableArn],
  }),
  index: (name: 'due' | 'changed'): Permission => ({
    actions: ['dynamodb:Query'],
    resources: [`${table.tableArn}/index/${name}`],
  }),
});

type KeyAction = 'Decrypt' | 'GenerateDataKey';

/** The key that encrypts table, bucket and stored secrets. */
const onKey = ({ storage: { key } }: Parts) => {
  const endpoint = (service: 'dynamodb' | 's3') => `${service}.${Aws.REGION}.amazonaws.com`;
  const onlyBy = (endpoints: string | string[]) => ({ StringEquals: { 'kms:ViaService': endpoints } });
  const use = (actions: KeyAction[]): Permission => ({
    actions: actions.map((action) => `kms:${action}`),
    resources: [key.keyArn],
  });
  return {
    /** S3 decrypts an object's key with the reader's permissions, also for HEAD (S3: SSE-KMS, permissions). */
    storageKey: (...actions: KeyAction[]): Permission => ({
      ...use(actions),
      conditions: onlyBy([endpoint('dynamodb'), endpoint('s3')]),
    }),
    key: (...actions: KeyAction[]): Permission => use(actions),
  };
};

const onBucket = ({ storage: { bucket } }: Parts) => {
  const objects = (action: string, prefixes: Prefix[]): Permission => ({
    actions: [`s3:${action}`],
    resources: prefixes.map((prefix) => bucket.arnForObjects(`${prefix}/*`)),
    wildcard: 'Keys below a prefix contain ids of runs, workspaces and configuration versions.',
  });
  return {
    readObjects: (...prefixes: Prefix[]): Permission => objects('GetObject', prefixes),
    writeObjects: (...prefixes: Prefix[]): Permission => objects('PutObject', prefixes),
    /** Commits are the only objects that are deleted: their forge still has them. */
    deleteCommits: (): Permission => ({
      actions: ['s3:DeleteObject'],
      resources: [bucket.arnForObjects('configurations/vcs/*')],
      wildcard: 'Keys below the prefix contain ids of repositories and commits.',
    }),
    /** Without this right, S3 answers 403 instead of 404 if an object does not exist (S3 API: GetObject). */
    seeMissingObjects: (): Permission => ({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }),
  };
};

const onRunners = ({ runners }: Parts) => {
  const conditions = { ArnEquals: { 'ecs:cluster': runners.clusterArn } };
  return {
    launch: (): Permission[] => [
      {
        actions: ['ecs:RunTask'],
        resources: [runners.anyRevisionArn],
        conditions,
        wildcard: 'Any revision of this one task definition: a deployment creates a revision while runs start.',
      },
      {
        // ECS asks for it if RunTask has tags; tasks that exist cannot be tagged (ECS: tag resources on creation).
        actions: ['ecs:TagResource'],
        resources: [runners.anyTaskArn],
        conditions: { StringEquals: { 'ecs:CreateAction': 'RunTask' } },
        wildcard: 'Tasks of this one cluster; ECS generates their ids.',
      },
      {
        actions: ['iam:PassRole'],
        resources: [runners.executionRole.roleArn, runners.taskRole.roleArn],
        conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
      },
    ],
    onTasks: (...actions: ('StopTask' | 'DescribeTasks')[]): Permission => ({
      actions: actions.map((action) => `ecs:${action}`),
      resources: [runners.anyTaskArn],
      conditions,
      wildcard: 'Tasks of this one cluster; ECS generates their ids.',
    }),
    listTasks: (): Permission => ({
      actions: ['ecs:ListTasks'],
      resources: ['*'],
      conditions,
      wildcard: 'ListTasks has no resource type but container instances, which Fargate lacks.',
    }),
    /** For runners whose image does not contain it. */
    readRunnerProgram: (): Permission[] =>
      runners.program
        ? [
            {
              actions: ['s3:GetObject'],
              resources: [runners.program.objectsArn],
              wildcard: 'Runners that started before a deployment read the previous program.',
            },
          ]
        : [],
  };
};

const onExecutions = (parts: Parts) => {
  const machine = () => requirePart(parts, 'machine');
  const onMachine = (...actions: string[]): Permission => ({
    actions: actions.map((action) => `states:${action}`),
    resources: [machine().stateMachineArn],
  });
  const onExecution = (action: 'DescribeExecution' | 'StopExecution'): Permission => ({
    actions: [`states:${action}`],
    resources: [
      `arn:${Aws.PARTITION}:states:${Aws.REGION}:${Aws.ACCOUNT_ID}:execution:${machine().stateMachineName}:*`,
    ],
    wildcard: 'Executions of this one machine; each is named like its run.',
  });
  return {
    startExecutions: (): Permission => onMachine('StartExecution'),
    listExecutions: (): Permission => onMachine('ListExecutions'),
    describeExecutions: (): Permission => onExecution('DescribeExecution'),
    stopExecutions: (): Permission => onExecution('StopExecution'),
    /**
     * Step Functions checks these actions against the state machine that issued the token, although the service
     * authorization reference names no resource type for them (aws-cdk: StateMachine.grantTaskResponse does the same).
     */
    answerExecutions: (...more: 'Heartbeat'[]): Permission =>
      onMachine(...['Success', 'Failure', ...more].map((answer) => `SendTask${answer}`)),
  };
};

/** Invocations of other functions, asynchronous unless stated otherwise. */
const onFunctions = (parts: Parts) => {
  const invoke = (...names: InvokedPart[]): Permission => ({
    actions: ['lambda:InvokeFunction'],
    resources: names.map((name) => requirePart(parts, name).functionArn),
  });
  return {
    /** Sends a run's notifications, environment updates and logs, commit statuses and trace. */
    notify: (): Permission => invoke('notify', 'environmentLogs', 'environmentSettle', 'commitStatus', 'trace'),
    /** Sends new lines to the followers of an environment's log. */
    pushLogs: (): Permission => invoke('environmentLogs'),
    /** Sends notifications that are not about a run's status. */
    tellPeople: (): Permission => invoke('notify'),
    /** Starts due builds of environments. */
    sweepEnvironments: (): Permission => invoke('environmentSweep'),
    postStatuses: (): Permission => invoke('commitStatus'),
    deleteOldData: (): Permission => invoke('dataRetention'),
    fetchCommits: (): Permission => invoke('fetchCommit'),
    /** Waits for the result. */
    compilePolicies: (): Permission => invoke('compilePolicies'),
    fetchProviders: (): Permission => invoke('fetchProvider'),
    handleVersionControlEvents: (): Permission => invoke('versionControlEvent'),
  };
};

const onIdentityKeys = ({ identity }: Parts) => ({
  signIdentities: (): Permission => ({ actions: ['kms:Sign'], resources: [identity.signing.keyArn] }),
  publishIdentityKeys: (): Permission => ({
    actions: ['kms:GetPublicKey'],
    resources: identity.all.map(({ keyArn }) => keyArn),
  }),
});

/** No resources if the operator configured no secret. */
const onSecrets = ({ settings }: Parts) => ({
  /** Client secret of the sign-in issuer. */
  signInSecret: (): Permission[] =>
    settings.signInSecretParameter ? [readParameter(settings.signInSecretParameter)] : [],
  /** Headers for the receiver of traces. */
  otlpHeaders: (): Permission[] =>
    settings.otlpHeadersParameter ? [readParameter(settings.otlpHeadersParameter)] : [],
  /** Key of the GitHub App, which signs tokens for its installations. */
  githubApp: (...secrets: GithubAppSecret[]): Permission[] => {
    const parameters = githubAppParameters(settings);
    return parameters ? secrets.map((secret) => readParameter(parameters[secret])) : [];
  },
});

const onServices = ({ settings, lostEvents }: Parts) => ({
  /**
   * AWS list prices are the same for every account, so there are no resources to name (service authorization: Price
   * List).
   */
  prices: (): Permission => ({
    actions: ['pricing:GetProducts'],
    resources: ['*'],
    wildcard: 'The Price List API has no resources.',
  }),
  /**
   * Sends e-mails from the operator's address, whose identity is the address or its domain (SES: identity
   * authorization). No resources without a configured sender.
   */
  sendEmails: (): Permission[] => (settings.emailSender ? [sendFrom(settings.emailSender)] : []),
  /** For a function whose failed events are kept. */
  keepLostEvents: (): Permission => ({ actions: ['sqs:SendMessage'], resources: [lostEvents.queueArn] }),
});

/**
 * Decryption with Parameter Store's own key is allowed to every principal that may read the parameter (Systems Manager:
 * `aws/ssm`).
 */
const readParameter = (name: string): Permission => ({
  actions: ['ssm:GetParameter'],
  resources: [`arn:${Aws.PARTITION}:ssm:${Aws.REGION}:${Aws.ACCOUNT_ID}:parameter/${name.replace(/^\//, '')}`],
});

const sendFrom = (address: string): Permission => ({
  actions: ['ses:SendEmail'],
  resources: [address, address.split('@')[1] ?? ''].map(
    (identity) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:identity/${identity}`,
  ),
  conditions: { StringEquals: { 'ses:FromAddress': address } },
});
