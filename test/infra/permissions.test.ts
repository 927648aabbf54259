import { describe, expect, it } from 'vitest';
import { type FunctionId, functionIds, lifecycleFunctions, stateFunctions } from '#infra/stack/functions.ts';
import { functionProperties, permissionsOf, resources, roleOf, routesOf } from './template.ts';

/** The exact permissions of each function. An unneeded line is a defect, and so is a missing one. */

const table = (...verbs: string[]) => verbs.map((verb) => `dynamodb:${verb} table`);
const tableKey = [
  'CreateGrant',
  'Decrypt',
  'DescribeKey',
  'Encrypt',
  'GenerateDataKey',
  'GenerateDataKeyWithoutPlaintext',
  'ReEncryptFrom',
  'ReEncryptTo',
].map((action) => `kms:${action} key if kms:ViaService StringEquals dynamodb.region.amazonaws.com`);
const storageKey = ['dynamodb', 's3'].map((service) => `${service}.region.amazonaws.com`).join();
const objects = (action: 'GetObject' | 'PutObject' | 'DeleteObject', ...prefixes: string[]) =>
  prefixes.map((prefix) => `s3:${action} bucket/${prefix}/*`);
const tasks = (...actions: string[]) =>
  actions.map((action) => `ecs:${action} arn:aws:ecs:region:account:task/cluster/* if ecs:cluster ArnEquals cluster`);
const answers = (...more: string[]) =>
  ['Success', 'Failure', ...more].map((answer) => `states:SendTask${answer} machine`);
const start = ['states:StartExecution machine'];

const [executionRole, taskRole] = (['ExecutionRole', 'TaskRole'] as const).map((name) => {
  const role = resources('AWS::IAM::Role').find(({ id }) => id.startsWith(`Runners${name}`));
  return role?.id as string;
});
const launch = [
  'ecs:RunTask arn:aws:ecs:region:account:task-definition/stack-runner:* if ecs:cluster ArnEquals cluster',
  'ecs:TagResource arn:aws:ecs:region:account:task/cluster/* if ecs:CreateAction StringEquals RunTask',
  `iam:PassRole ${executionRole} if iam:PassedToService StringEquals ecs-tasks.amazonaws.com`,
  `iam:PassRole ${taskRole} if iam:PassedToService StringEquals ecs-tasks.amazonaws.com`,
];

const enter = [...table('GetItem', 'UpdateItem'), ...answers()];
const passesConfirmation = table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem');
const judgePolicies = [
  ...passesConfirmation,
  'kms:Decrypt key',
  'kms:GenerateDataKey key',
  ...objects('GetObject', 'inputs', 'policies', 'runs'),
  ...objects('PutObject', 'runs'),
  's3:ListBucket bucket',
];
const estimate = [
  ...passesConfirmation,
  'kms:Decrypt key',
  'kms:GenerateDataKey key',
  ...objects('GetObject', 'runs'),
  ...objects('PutObject', 'runs'),
  's3:ListBucket bucket',
];
const launcher = [
  ...table('GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem'),
  ...answers(),
  ...launch,
  ...tasks('StopTask'),
];
const tells = ['Notify', 'EnvironmentLogs', 'EnvironmentSettle', 'CommitStatus', 'Trace'].map(
  (name) => `lambda:InvokeFunction ${name}Function`,
);
const handsOver = 'lambda:InvokeFunction VersionControlEventFunction';
const finisher = [
  ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  'kms:GenerateDataKey key',
  'kms:Decrypt key',
  ...objects('GetObject', 'runs', 'states', 'uploads'),
  ...objects('PutObject', 'runs', 'states'),
  's3:ListBucket bucket',
  ...tasks('StopTask', 'DescribeTasks'),
  'ecs:ListTasks * if ecs:cluster ArnEquals cluster',
  ...tells,
  ...answers(),
];
const createsRuns = [
  ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  'kms:GenerateDataKey key',
  'kms:Decrypt key',
  ...objects('GetObject', 'configurations', 'policies', 'uploads'),
  ...objects('PutObject', 'configurations', 'inputs', 'policies'),
  's3:ListBucket bucket',
  ...start,
  ...answers(),
];
const environments = [
  ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  'kms:GenerateDataKey key',
  'kms:Decrypt key',
  ...objects('GetObject', 'policies', 'runs', 'states', 'uploads'),
  ...objects('PutObject', 'inputs', 'policies', 'states'),
  's3:ListBucket bucket',
  ...start,
  ...answers(),
];
const templates = [
  ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
  'kms:GenerateDataKey key',
  'kms:Decrypt key',
  ...objects('GetObject', 'configurations', 'policies', 'runs', 'uploads'),
  ...objects('PutObject', 'inputs', 'policies'),
  's3:ListBucket bucket',
  ...start,
  ...answers(),
  'lambda:InvokeFunction EnvironmentSweepFunction',
];
const keepsLostEvents = ['sqs:SendMessage lost-events'];

const expected: Record<FunctionId, string[]> = {
  Api: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    ...['GenerateDataKey', 'Decrypt'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    ...objects('GetObject', 'configurations', 'states'),
    ...objects('PutObject', 'configurations'),
    's3:ListBucket bucket',
    'dynamodb:Query table/index/changed',
  ],
  Runs: [...createsRuns, ...objects('PutObject', 'uploads'), 'lambda:InvokeFunction FetchCommitFunction'],
  States: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    ...objects('GetObject', 'runs', 'states', 'uploads'),
    ...objects('PutObject', 'runs', 'states', 'uploads'),
    's3:ListBucket bucket',
    ...answers(),
  ],
  Access: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  Organizations: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  SignIn: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  Scim: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem')],
  Slack: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    ...objects('GetObject', 'runs'),
    's3:ListBucket bucket',
    ...answers(),
  ],
  Saml: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
  ],
  Workspaces: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    handsOver,
  ],
  Settings: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
  ],
  Governance: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    ...objects('GetObject', 'outcomes', 'runs'),
    ...objects('PutObject', 'outcomes'),
    's3:ListBucket bucket',
    ...answers('Heartbeat'),
  ],
  Policies: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    ...objects('GetObject', 'policies', 'uploads'),
    ...objects('PutObject', 'policies', 'uploads'),
    's3:ListBucket bucket',
    handsOver,
    'lambda:InvokeFunction FetchCommitFunction',
    'lambda:InvokeFunction CompilePoliciesFunction',
  ],
  VersionControl: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    handsOver,
  ],
  Webhooks: [...table('GetItem', 'Query', 'PutItem', 'UpdateItem'), 'kms:Decrypt key', handsOver],
  VersionControlEvent: [...createsRuns, 'lambda:InvokeFunction FetchCommitFunction', ...tells],
  FetchCommit: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:Decrypt key',
    'kms:GenerateDataKey key',
    'lambda:InvokeFunction CommitStatusFunction',
    'lambda:InvokeFunction CompilePoliciesFunction',
    ...objects('GetObject', 'configurations', 'registry', 'uploads'),
    ...objects('PutObject', 'configurations', 'policies', 'registry', 'uploads'),
    ...objects('DeleteObject', 'configurations/vcs'),
    's3:ListBucket bucket',
    ...answers(),
  ],
  FetchProvider: [
    ...table('UpdateItem'),
    ...['GenerateDataKey', 'Decrypt'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    ...objects('PutObject', 'providers'),
  ],
  CompilePolicies: [
    ...table('GetItem'),
    ...objects('GetObject', 'policies'),
    `kms:Decrypt key if kms:ViaService StringEquals ${storageKey}`,
  ],
  CommitStatus: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    'kms:Decrypt key',
    'kms:GenerateDataKey key',
  ],
  Explorer: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    ...objects('GetObject', 'states', 'runs', 'uploads'),
    ...objects('PutObject', 'uploads'),
    ...['GenerateDataKey', 'Decrypt'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    's3:ListBucket bucket',
    'lambda:InvokeFunction NotifyFunction',
  ],
  Modules: [...createsRuns, ...objects('GetObject', 'registry'), ...objects('PutObject', 'registry')],
  TestRuns: [
    ...createsRuns,
    ...objects('GetObject', 'runs'),
    ...objects('PutObject', 'uploads'),
    'lambda:InvokeFunction FetchCommitFunction',
  ],
  Registry: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    ...objects('GetObject', 'uploads', 'registry'),
    ...objects('PutObject', 'uploads', 'registry'),
    ...['GenerateDataKey', 'Decrypt'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    's3:ListBucket bucket',
  ],
  Logs: [...table('GetItem', 'Query'), 'kms:Decrypt key', ...objects('GetObject', 'runs'), 's3:ListBucket bucket'],
  Runner: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    ...objects('GetObject', 'configurations', 'inputs', 'runs', 'states', 'uploads', 'providers'),
    ...objects('PutObject', 'runs', 'states', 'uploads'),
    's3:ListBucket bucket',
    ...answers('Heartbeat'),
    'kms:Sign identity-key',
    'lambda:InvokeFunction FetchProviderFunction',
    'lambda:InvokeFunction EnvironmentLogsFunction',
  ],
  Agent: [...table('GetItem', 'BatchGetItem', 'Query', 'UpdateItem', 'DeleteItem'), ...answers()],
  Identity: ['kms:GetPublicKey identity-key'],
  AwaitTurn: [...enter, ...table('Query', 'DeleteItem'), ...tells],
  PlanQueued: [...launcher, ...tells],
  Fetching: [
    ...table('GetItem', 'UpdateItem'),
    ...['Decrypt', 'GenerateDataKey'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    ...objects('GetObject', 'configurations', 'uploads'),
    ...objects('PutObject', 'configurations'),
    's3:ListBucket bucket',
    ...answers(),
    ...tells,
  ],
  PolicyEvaluating: judgePolicies,
  CostEstimating: [...estimate, 'pricing:GetProducts *'],
  PolicyChecking: judgePolicies,
  PlannedAndSaved: [...enter, ...table('PutItem')],
  Confirmed: [...enter, ...table('Query', 'PutItem', 'DeleteItem')],
  ApplyQueued: launcher,
  EnterState: [...enter, ...tells],
  Notify: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'), 'kms:Decrypt key'],
  Trace: [
    ...table('GetItem', 'Query'),
    ...objects('GetObject', 'runs'),
    's3:ListBucket bucket',
    `kms:Decrypt key if kms:ViaService StringEquals ${storageKey}`,
  ],
  RunTask: [...table('GetItem', 'UpdateItem'), 'kms:Decrypt key', ...answers()],
  TaskUnanswered: [...table('GetItem', 'UpdateItem')],
  TaskStageDone: [...passesConfirmation, ...table('Query')],
  Complete: finisher,
  ExecutionStopped: [...finisher, ...keepsLostEvents],
  RunnerStopped: [...enter, ...table('Query', 'DeleteItem'), ...keepsLostEvents],
  ConfigurationUploaded: [...createsRuns, ...keepsLostEvents],
  StateUploaded: [
    ...table('GetItem', 'Query', 'PutItem', 'UpdateItem'),
    ...answers(),
    ...['GenerateDataKey', 'Decrypt'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    ...objects('GetObject', 'states', 'uploads'),
    ...objects('PutObject', 'states'),
    's3:ListBucket bucket',
    ...keepsLostEvents,
  ],
  RunApplied: [
    ...createsRuns,
    'lambda:InvokeFunction EnvironmentSweepFunction',
    'lambda:InvokeFunction FetchCommitFunction',
    ...keepsLostEvents,
  ],
  Sweep: [
    ...finisher,
    ...createsRuns.filter((line) => !finisher.includes(line)),
    // The finisher and the creation of runs have a statement each.
    ...objects('GetObject', 'uploads'),
    'dynamodb:Query table/index/due',
    'lambda:InvokeFunction EnvironmentSweepFunction',
    'lambda:InvokeFunction DataRetentionFunction',
    handsOver,
    'lambda:InvokeFunction FetchCommitFunction',
    ...launch,
    'states:DescribeExecution arn:aws:states:region:account:execution:machine.Name:*',
  ],
  Web: [],
  Docs: [],
  Bootstrap: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem')],
  Environments: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:Decrypt key',
    ...objects('GetObject', 'runs', 'states'),
    's3:ListBucket bucket',
  ],
  EnvironmentBuilds: environments,
  EnvironmentTemplates: templates,
  EnvironmentFiles: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'),
    'kms:GenerateDataKey key',
    'kms:Decrypt key',
    ...objects('GetObject', 'configurations'),
    ...objects('PutObject', 'configurations'),
    's3:ListBucket bucket',
  ],
  EnvironmentGovernance: [...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'), 'kms:Decrypt key'],
  EnvironmentSweep: environments,
  DataRetention: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    ...['GenerateDataKey', 'Decrypt'].map((action) => `kms:${action} key if kms:ViaService StringEquals ${storageKey}`),
    ...objects('PutObject', 'configurations', 'runs', 'states', 'uploads'),
    ...objects('GetObject', 'runs'),
    's3:ListBucket bucket',
  ],
  EnvironmentSettle: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:Decrypt key',
    ...objects('GetObject', 'runs', 'states'),
    's3:ListBucket bucket',
    'lambda:InvokeFunction EnvironmentLogsFunction',
  ],
  EnvironmentLogs: [
    ...table('GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'),
    'kms:Decrypt key',
    ...objects('GetObject', 'runs', 'states'),
    's3:ListBucket bucket',
    'lambda:InvokeFunction EnvironmentLogsFunction',
    'execute-api:ManageConnections arn:aws:execute-api:region:account:EnvironmentApiSockets242D0622/logs/*/@connections/*',
  ],
  Drain: [...table('GetItem', 'PutItem', 'DeleteItem'), 'dynamodb:Query table/index/due'],
  Recover: [
    ...finisher,
    'dynamodb:Query table/index/due',
    'states:ListExecutions machine',
    'states:StopExecution arn:aws:states:region:account:execution:machine.Name:*',
  ],
};

describe('IAM permissions', () => {
  it.each(functionIds)('%s has exactly the rights that it needs', (id) => {
    const role = roleOf(id);
    const { LogGroup: log } = functionProperties(id).LoggingConfig as { LogGroup: { Ref: string } };
    const ownLog = ['CreateLogStream', 'PutLogEvents'].map((action) => `logs:${action} ${log.Ref}`);
    const allowed = permissionsOf(role).filter((line) => !line.startsWith('Deny '));
    const throughTable = expected[id].some((line) => line.startsWith('dynamodb:')) ? tableKey : [];
    expect(allowed).toEqual([...new Set([...expected[id], ...throughTable, ...ownLog])].sort());
  });

  it.each(functionIds)('%s may use the keys of its data', (id) => {
    const allowed = permissionsOf(roleOf(id)).filter((line) => !line.startsWith('Deny '));
    const may = (start: string) => allowed.some((line) => line.startsWith(start));
    const key = (action: string, service: string) =>
      allowed.some(
        (line) =>
          line.startsWith(`kms:${action} key`) &&
          (!line.includes('kms:ViaService') || line.includes(`${service}.region.amazonaws.com`)),
      );
    if (may('dynamodb:')) expect(key('Decrypt', 'dynamodb')).toBe(true);
    if (may('s3:GetObject')) expect(key('Decrypt', 's3')).toBe(true);
    if (may('s3:PutObject')) expect(key('GenerateDataKey', 's3')).toBe(true);
  });

  it('prevent functions that change items from changing the audit trail', () => {
    const changing = functionIds.filter((id) => /dynamodb:(Update|Delete)Item/.test(expected[id].join()));
    expect(changing.length).toBeGreaterThan(20);
    for (const id of functionIds) {
      const denied = permissionsOf(roleOf(id)).filter((line) => line.startsWith('Deny '));
      const verbs = changing.includes(id) ? ['DeleteItem', 'UpdateItem'] : [];
      const of = 'table if dynamodb:LeadingKeys ForAnyValue:StringLike AUDIT#*';
      expect([id, denied]).toEqual([id, verbs.map((verb) => `Deny dynamodb:${verb} ${of}`)]);
    }
  });

  it('differ between the functions of states that only wait: those with the same rights are one function', () => {
    const waits = lifecycleFunctions.filter((id) => stateFunctions[id].state === 'waits');
    const sets = waits.map((id) => permissionsOf(roleOf(id)).join());
    expect(waits).toContain('EnterState');
    expect(new Set(sets).size).toBe(waits.length);
  });

  it('let functions invoke each other in a circle only if they declare it, or Lambda would end the chain', () => {
    const invokedBy = (id: FunctionId): FunctionId[] =>
      permissionsOf(roleOf(id)).flatMap((line) => {
        const [, target] = /^lambda:InvokeFunction (\w+)Function$/.exec(line) ?? [];
        return target ? [target as FunctionId] : [];
      });
    const reaches = (from: FunctionId, to: FunctionId, seen = new Set<FunctionId>()): boolean =>
      invokedBy(from).some((next) => {
        if (next === to) return true;
        if (seen.has(next)) return false;
        return reaches(next, to, seen.add(next));
      });
    const recursive = functionIds.filter((id) => reaches(id, id));
    expect(recursive).toEqual(['EnvironmentLogs']);
    expect(functionIds.filter((id) => functionProperties(id).RecursiveLoop === 'Allow')).toEqual(recursive);
  });

  it('give every function its own role', () => {
    expect(new Set(functionIds.map(roleOf)).size).toBe(functionIds.length);
  });

  it('give runners none', () => {
    expect(permissionsOf(taskRole as string)).toEqual([]);
  });

  it('let Fargate only pull the image and write the log', () => {
    const log = resources('AWS::Logs::LogGroup').find(({ id }) => id.startsWith('RunnersLog'))?.id;
    expect(permissionsOf(executionRole as string)).toEqual([
      ...['BatchCheckLayerAvailability', 'BatchGetImage'].map((action) => `ecr:${action} ${repository}`),
      'ecr:GetAuthorizationToken *',
      `ecr:GetDownloadUrlForLayer ${repository}`,
      `logs:CreateLogStream ${log}`,
      `logs:PutLogEvents ${log}`,
    ]);
  });

  it('let the state machine only invoke its functions and write its log', () => {
    const role = only('LifecycleRunsRole');
    expect(permissionsOf(role).filter((line) => !line.startsWith('logs:'))).toEqual(
      lifecycleFunctions.map((id) => `lambda:InvokeFunction ${id}Function`).sort(),
    );
  });

  it('let only one function write providers that other runs execute', () => {
    const writers = functionIds.filter((id) =>
      permissionsOf(roleOf(id)).some((line) => line.startsWith('s3:PutObject') && line.includes('providers')),
    );
    expect(writers).toEqual(['FetchProvider']);
  });

  it('let API Gateway only invoke the functions behind its APIs', () => {
    const behind = ['HttpApi', 'EnvironmentApi'] as const;
    const targets = [...behind.flatMap((api) => Object.values(routesOf(api))), 'EnvironmentLogsFunction'];
    const invocations = [...new Set(targets)].map((target) => `lambda:InvokeFunction ${target}`);
    expect(permissionsOf(only('ApiInvokerRole'))).toEqual(invocations.sort());
    expect(resources('AWS::Lambda::Permission').map(({ Properties }) => Properties.Principal)).toEqual(
      resources('AWS::Events::Rule').map(() => 'events.amazonaws.com'),
    );
  });

  it('cover every role of the stack', () => {
    const others = [executionRole, taskRole, only('LifecycleRunsRole'), only('ApiInvokerRole')];
    const expectedRoles = [...functionIds.map(roleOf), ...others];
    expect(
      resources('AWS::IAM::Role')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...expectedRoles].sort());
  });

  it('contain no action wildcard', () => {
    const actions = resources('AWS::IAM::Role')
      .flatMap(({ id }) => permissionsOf(id))
      .map((line) => line.split(' ')[0] as string);
    expect(actions.length).toBeGreaterThan(100);
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });
});

const repository = 'arn:aws:ecr:region:account:repository/cdk-hnb659fds-container-assets-account-region';

function only(prefix: string): string {
  const [role, ...more] = resources('AWS::IAM::Role').filter(({ id }) => id.startsWith(prefix));
  if (!role || more.length) throw new Error(`expected one role ${prefix}…`);
  return role.id;
}
