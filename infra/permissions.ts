import * as iam from 'aws-cdk-lib/aws-iam';
import { Aws } from 'aws-cdk-lib/core';
import type { FunctionId } from './functions.ts';
import type { IdentityKeys } from './identity.ts';
import type { LifecycleFunction } from './lifecycle.ts';
import type { Runners } from './runner.ts';
import type { Settings } from './settings.ts';
import type { Storage } from './storage.ts';

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

/** With what is kept from whoever changes items. */
export const withinBounds = (tableArn: string, given: Permission[]): Permission[] => {
  const changes = given.some(({ actions }) => /dynamodb:(Update|Delete)Item/.test(actions.join()));
  return changes ? [...given, trailStays(tableArn)] : given;
};

type Verb = 'GetItem' | 'BatchGetItem' | 'Query' | 'PutItem' | 'UpdateItem' | 'DeleteItem';
type Prefix = 'configurations' | 'inputs' | 'outcomes' | 'policies' | 'runs' | 'states' | 'uploads';

/** The vocabulary permissions are written in. */
const grants = ({ table, bucket, key }: Storage, runners: Runners) => {
  const objects = (action: string, prefixes: Prefix[]): Permission => ({
    actions: [`s3:${action}`],
    resources: prefixes.map((prefix) => bucket.arnForObjects(`${prefix}/*`)),
    wildcard: 'Keys below a prefix name runs, workspaces and configuration versions, which come and go.',
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
  };
};

/** What AWS charges is the same for everybody, so there are no resources to name (service authorization: Price List). */
const prices: Permission = {
  actions: ['pricing:GetProducts'],
  resources: ['*'],
  wildcard: 'The Price List API has no resources.',
};

/**
 * The service evaluates these against the machine that made the token, although the service authorization reference
 * names no resource type for them (aws-cdk: StateMachine.grantTaskResponse does the same).
 */
export const answering = (stateMachineArn: string, ...more: 'Heartbeat'[]): Permission => ({
  actions: ['Success', 'Failure', ...more].map((answer) => `states:SendTask${answer}`),
  resources: [stateMachineArn],
});

/** Functions of states that do their work themselves: no token of theirs is ever kept, so there is nothing to answer. */
const working: LifecycleFunction[] = [
  'CostEstimating',
  'PolicyChecking',
  'PolicyEvaluating',
  'TaskStageDone',
  'TaskUnanswered',
];
export const answers = (id: LifecycleFunction): boolean => !working.includes(id);

/** Has people told of a run. */
const announcing = (notifyArn: string): Permission => ({ actions: ['lambda:InvokeFunction'], resources: [notifyArn] });

/** Of the function that tells them: there before the functions that call it. */
export const notifyPermissions = (storage: Storage, runners: Runners): Permission[] => {
  const may = grants(storage, runners);
  return [may.table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'), may.key('Decrypt')];
};

/** Of the functions behind the machine's states; `answering` comes on top where it `answers`, once the machine exists. */
export const lifecyclePermissions = (
  storage: Storage,
  runners: Runners,
  notifyArn: string,
): Record<LifecycleFunction, Permission[]> => {
  const may = grants(storage, runners);
  const enter = [may.table('GetItem', 'UpdateItem'), may.tableKey()];
  const tell = announcing(notifyArn);
  // A container whose run ended while it was started is stopped at once.
  const launch = [
    // That a run waits for an agent is told in its timeline.
    may.table('GetItem', 'PutItem', 'UpdateItem'),
    may.tableKey(),
    ...may.launch(),
    may.onTasks('StopTask'),
  ];
  // What it read and what it found lies with the run.
  const judge = [
    may.table('GetItem', 'Query', 'UpdateItem'),
    may.key('Decrypt', 'GenerateDataKey'),
    may.readObjects('runs'),
    may.writeObjects('runs'),
    may.seeMissingObjects(),
  ];
  const judgePolicies = [
    may.table('GetItem', 'PutItem', 'UpdateItem'),
    may.key('Decrypt', 'GenerateDataKey'),
    may.readObjects('inputs', 'policies', 'runs'),
    may.writeObjects('runs'),
    may.seeMissingObjects(),
  ];
  return {
    Pending: [may.table('GetItem', 'Query', 'UpdateItem', 'DeleteItem'), may.tableKey(), tell],
    PlanQueued: launch,
    // What was uploaded is copied when it is accepted.
    Fetching: [
      may.table('GetItem', 'UpdateItem'),
      may.storageKey('Decrypt', 'GenerateDataKey'),
      may.readObjects('configurations', 'uploads'),
      may.writeObjects('configurations'),
      may.seeMissingObjects(),
    ],
    RunTask: [may.table('GetItem', 'UpdateItem'), may.key('Decrypt')],
    TaskUnanswered: [may.table('GetItem', 'UpdateItem'), may.tableKey()],
    TaskStageDone: [may.table('GetItem', 'Query', 'UpdateItem'), may.tableKey()],
    Planning: [...enter, tell],
    PolicyEvaluating: judgePolicies,
    PostPlanAwaitingDecision: [...enter, tell],
    CostEstimating: [...judge, prices],
    PolicyChecking: judgePolicies,
    PolicyOverride: [...enter, tell],
    NeedsConfirmation: [...enter, tell],
    // A plan that is stale already is discarded, which the run's timeline says.
    PlannedAndSaved: [may.table('GetItem', 'PutItem', 'UpdateItem'), may.tableKey()],
    Confirmed: [may.table('GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'), may.tableKey()],
    // Looks at what teams may do whose members' runs apply without a confirmation.
    ApplyQueued: [...launch, may.table('BatchGetItem')],
    Applying: [...enter, tell],
    Complete: finish(storage, runners, notifyArn),
  };
};

const finish = (storage: Storage, runners: Runners, notifyArn: string): Permission[] => {
  const may = grants(storage, runners);
  return [
    may.table('GetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    may.key('GenerateDataKey', 'Decrypt'),
    may.onTasks('StopTask', 'DescribeTasks'),
    may.listTasks(),
    // Of a run that was cut off: the log that its runner did not store, and the state that it could not.
    may.readObjects('runs'),
    may.writeObjects('runs', 'states'),
    may.seeMissingObjects(),
    announcing(notifyArn),
  ];
};

/** Its own key of Parameter Store lets whoever may read the parameter decrypt it (Systems Manager: `aws/ssm`). */
const readParameter = (name: string): Permission => ({
  actions: ['ssm:GetParameter'],
  resources: [`arn:${Aws.PARTITION}:ssm:${Aws.REGION}:${Aws.ACCOUNT_ID}:parameter/${name.replace(/^\//, '')}`],
});

/** Of all other functions. */
export const permissions = (
  storage: Storage,
  runners: Runners,
  identity: IdentityKeys,
  machine: { arn: string; name: string },
  notifyArn: string,
  { signInSecretParameter }: Pick<Settings, 'signInSecretParameter'>,
): Record<Exclude<FunctionId, LifecycleFunction | 'Notify'>, Permission[]> => {
  const may = grants(storage, runners);
  const start: Permission = { actions: ['states:StartExecution'], resources: [machine.arn] };
  const beginRuns: Permission[] = [
    may.key('GenerateDataKey', 'Decrypt'),
    // What was uploaded is taken in when a run needs it, if nobody looked before.
    may.readObjects('configurations', 'policies', 'uploads'),
    may.writeObjects('configurations', 'inputs', 'policies'),
    may.seeMissingObjects(),
    start,
  ];
  const createRuns = [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'), ...beginRuns];
  return {
    Api: [
      may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
      may.key('GenerateDataKey', 'Decrypt'),
      // What runs were given is theirs alone to read.
      may.readObjects('configurations', 'policies', 'runs', 'states', 'uploads'),
      may.writeObjects('configurations', 'inputs', 'policies', 'uploads'),
      may.seeMissingObjects(),
      start,
      answering(machine.arn),
    ],
    States: [
      may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
      may.key('GenerateDataKey', 'Decrypt'),
      may.readObjects('runs', 'states', 'uploads'),
      may.writeObjects('runs', 'states', 'uploads'),
      may.seeMissingObjects(),
      // Whoever unlocks a workspace lets the next run go.
      answering(machine.arn),
    ],
    Access: [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'), may.tableKey()],
    SignIn: [
      may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
      may.tableKey(),
      ...(signInSecretParameter ? [readParameter(signInSecretParameter)] : []),
    ],
    Settings: [
      may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
      may.key('GenerateDataKey', 'Decrypt'),
    ],
    Governance: [
      may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
      may.key('GenerateDataKey', 'Decrypt'),
      may.readObjects('outcomes', 'policies', 'runs', 'uploads'),
      may.writeObjects('outcomes', 'policies', 'uploads'),
      may.seeMissingObjects(),
      // Run tasks say that they are still at work.
      answering(machine.arn, 'Heartbeat'),
    ],
    Logs: [may.table('GetItem', 'Query'), may.key('Decrypt'), may.readObjects('runs'), may.seeMissingObjects()],
    Runner: [
      may.table('GetItem', 'Query', 'PutItem', 'UpdateItem'),
      may.key('GenerateDataKey', 'Decrypt'),
      may.readObjects('configurations', 'inputs', 'runs', 'states', 'uploads'),
      may.writeObjects('runs', 'states', 'uploads'),
      may.seeMissingObjects(),
      answering(machine.arn, 'Heartbeat'),
      { actions: ['kms:Sign'], resources: [identity.signing.keyArn] },
    ],
    Agent: [
      may.table('GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'),
      may.tableKey(),
      // A runner of an agent that is gone without a word.
      answering(machine.arn),
    ],
    Identity: [{ actions: ['kms:GetPublicKey'], resources: identity.all.map(({ keyArn }) => keyArn) }],
    ExecutionStopped: [...finish(storage, runners, notifyArn), answering(machine.arn)],
    RunnerStopped: [
      may.table('GetItem', 'Query', 'UpdateItem'),
      may.tableKey(),
      ...may.launch(),
      may.onTasks('StopTask'),
      answering(machine.arn),
    ],
    ConfigurationUploaded: [...createRuns, answering(machine.arn)],
    RunApplied: createRuns,
    Sweep: [
      ...finish(storage, runners, notifyArn),
      may.table('BatchGetItem'),
      ...beginRuns,
      may.dueIndex(),
      ...may.launch(),
      {
        actions: ['states:DescribeExecution'],
        resources: [`arn:${Aws.PARTITION}:states:${Aws.REGION}:${Aws.ACCOUNT_ID}:execution:${machine.name}:*`],
        wildcard: 'Executions of this one machine; each is named like its run.',
      },
      answering(machine.arn),
    ],
    // The page is the same for everybody; what it shows, it asks the API for.
    Web: [],
    Bootstrap: [may.table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'), may.tableKey()],
  };
};
