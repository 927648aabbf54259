import * as iam from 'aws-cdk-lib/aws-iam';
import { Aws } from 'aws-cdk-lib/core';
import type { GithubAppSecret } from '../functions/environment.ts';
import { githubAppParameters } from './github-app.ts';
import { type Parts, requirePart } from './variables.ts';

/** What a function may do, beside writing its own log. Nothing else adds to a function's role. */
export interface Permission {
  actions: string[];
  resources: string[];
  conditions?: Record<string, Record<string, string | string[]>>;
  /** Whatever else allows it. */
  denied?: true;
  /** Why the resource ends in a wildcard. */
  wildcard?: string;
}

export const statement = ({ actions, resources, conditions, denied }: Permission): iam.PolicyStatement =>
  new iam.PolicyStatement({ actions, resources, conditions, effect: denied ? iam.Effect.DENY : iam.Effect.ALLOW });

/**
 * Nothing takes an event out of the audit trail, or alters one (decisions/0014): IAM sees the partition of what is
 * changed (DynamoDB: condition keys). A put is how events are written, and replaces none, by its condition.
 */
const trailStays = (tableArn: string): Permission => ({
  denied: true,
  actions: ['dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
  resources: [tableArn],
  conditions: { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'AUDIT#*' } },
});

/** Adds the limits on functions that change items. */
export const withinBounds = (tableArn: string, statements: Permission[]): Permission[] => {
  const changes = statements.some(({ actions }) => /dynamodb:(Update|Delete)Item/.test(actions.join()));
  return changes ? [...statements, trailStays(tableArn)] : statements;
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

/** The vocabulary that rights of functions are written in (infra/functions/). */
export const grants = (parts: Parts) => {
  const { settings, identity, runners, lostEvents } = parts;
  const { table, bucket, key } = parts.storage;
  const machine = () => requirePart(parts, 'machine');
  const objects = (action: string, prefixes: Prefix[]): Permission => ({
    actions: [`s3:${action}`],
    resources: prefixes.map((prefix) => bucket.arnForObjects(`${prefix}/*`)),
    wildcard: 'Keys below a prefix name runs, workspaces and configuration versions, which come and go.',
  });
  const executions = (action: 'DescribeExecution' | 'StopExecution'): Permission => ({
    actions: [`states:${action}`],
    resources: [
      `arn:${Aws.PARTITION}:states:${Aws.REGION}:${Aws.ACCOUNT_ID}:execution:${machine().stateMachineName}:*`,
    ],
    wildcard: 'Executions of this one machine; each is named like its run.',
  });
  return {
    table: (...verbs: Verb[]): Permission => ({
      actions: verbs.map((verb) => `dynamodb:${verb}`),
      resources: [table.tableArn],
    }),
    dueIndex: (): Permission => ({ actions: ['dynamodb:Query'], resources: [`${table.tableArn}/index/due`] }),
    /** DynamoDB opens the table's key in the caller's name (DynamoDB: encryption at rest, usage notes). */
    tableKey: (): Permission => ({
      actions: ['kms:Decrypt'],
      resources: [key.keyArn],
      conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.amazonaws.com` } },
    }),
    /** S3 opens an object's key in the reader's name too, also for a HEAD of it (S3: SSE-KMS, permissions). */
    storageKey: (...actions: ('Decrypt' | 'GenerateDataKey')[]): Permission => ({
      actions: actions.map((action) => `kms:${action}`),
      resources: [key.keyArn],
      conditions: {
        StringEquals: {
          'kms:ViaService': ['dynamodb', 's3'].map((service) => `${service}.${Aws.REGION}.amazonaws.com`),
        },
      },
    }),
    key: (...actions: ('Decrypt' | 'GenerateDataKey')[]): Permission => ({
      actions: actions.map((action) => `kms:${action}`),
      resources: [key.keyArn],
    }),
    readObjects: (...prefixes: Prefix[]): Permission => objects('GetObject', prefixes),
    writeObjects: (...prefixes: Prefix[]): Permission => objects('PutObject', prefixes),
    /** Without it S3 answers 403 in place of 404 to a read of what is not there (S3 API: GetObject). */
    seeMissingObjects: (): Permission => ({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }),
    launch: (): Permission[] => [
      {
        actions: ['ecs:RunTask'],
        resources: [runners.anyRevisionArn],
        conditions: { ArnEquals: { 'ecs:cluster': runners.clusterArn } },
        wildcard: 'Any revision of this one task definition: a deployment makes a new one while runs start.',
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
      conditions: { ArnEquals: { 'ecs:cluster': runners.clusterArn } },
      wildcard: 'Tasks of this one cluster; ECS makes up their ids.',
    }),
    listTasks: (): Permission => ({
      actions: ['ecs:ListTasks'],
      resources: ['*'],
      conditions: { ArnEquals: { 'ecs:cluster': runners.clusterArn } },
      wildcard: 'Lists of tasks have no resource of their own but container instances, which Fargate has not.',
    }),
    /** What AWS charges is the same for everybody, so there are no resources to name (service authorization: Price List). */
    prices: (): Permission => ({
      actions: ['pricing:GetProducts'],
      resources: ['*'],
      wildcard: 'The Price List API has no resources.',
    }),
    startExecutions: (): Permission => ({
      actions: ['states:StartExecution'],
      resources: [machine().stateMachineArn],
    }),
    describeExecutions: (): Permission => executions('DescribeExecution'),
    stopExecutions: (): Permission => executions('StopExecution'),
    listExecutions: (): Permission => ({
      actions: ['states:ListExecutions'],
      resources: [machine().stateMachineArn],
    }),
    /**
     * The service evaluates these against the machine that made the token, although the service authorization reference
     * names no resource type for them (aws-cdk: StateMachine.grantTaskResponse does the same).
     */
    answerExecutions: (...more: 'Heartbeat'[]): Permission => ({
      actions: ['Success', 'Failure', ...more].map((answer) => `states:SendTask${answer}`),
      resources: [machine().stateMachineArn],
    }),
    /** Has people, environments and version control told of a run. */
    notify: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: (['notify', 'environmentSettle', 'commitStatus'] as const).map(
        (name) => requirePart(parts, name).functionArn,
      ),
    }),
    /** Has people told of what is not a run's status. */
    tellPeople: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'notify').functionArn],
    }),
    /**
     * Sends e-mails from the operator's address, whose identity is the address or its domain (SES: identity authorization).
     * None where the operator named no sender.
     */
    sendEmails: (): Permission[] => (settings.emailSender ? [sendFrom(settings.emailSender)] : []),
    /** Has environments looked at whose time has come. */
    sweepEnvironments: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'environmentSweep').functionArn],
    }),
    postStatuses: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'commitStatus').functionArn],
    }),
    deleteOldData: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'dataRetention').functionArn],
    }),
    fetchCommits: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'fetchCommit').functionArn],
    }),
    /** For runners whose image does not have it. */
    readRunnerProgram: (): Permission[] =>
      runners.program
        ? [
            {
              actions: ['s3:GetObject'],
              resources: [runners.program.objectsArn],
              wildcard: 'Runners that were started before a deployment read the former program.',
            },
          ]
        : [],
    fetchProviders: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'fetchProvider').functionArn],
    }),
    handleVersionControlEvents: (): Permission => ({
      actions: ['lambda:InvokeFunction'],
      resources: [requirePart(parts, 'versionControlEvent').functionArn],
    }),
    signIdentities: (): Permission => ({ actions: ['kms:Sign'], resources: [identity.signing.keyArn] }),
    publishIdentityKeys: (): Permission => ({
      actions: ['kms:GetPublicKey'],
      resources: identity.all.map(({ keyArn }) => keyArn),
    }),
    /** Of the issuer that people sign in at, where there is one. */
    signInSecret: (): Permission[] =>
      settings.signInSecretParameter ? [readParameter(settings.signInSecretParameter)] : [],
    /** Secrets of the GitHub App, where there is one: its key makes tokens of installations. */
    githubApp: (...secrets: GithubAppSecret[]): Permission[] => {
      const parameters = githubAppParameters(settings);
      return parameters ? secrets.map((secret) => readParameter(parameters[secret])) : [];
    },
    /** For a function whose failed events are kept. */
    keepLostEvents: (): Permission => ({ actions: ['sqs:SendMessage'], resources: [lostEvents.queueArn] }),
  };
};

/** Its own key of Parameter Store lets whoever may read the parameter decrypt it (Systems Manager: `aws/ssm`). */
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
