import { readFileSync } from 'node:fs';
import aslValidator from 'asl-validator';
import { describe, expect, it } from 'vitest';
import { environmentBuildRoutes } from '#infra/functions/environment-builds.ts';
import { environmentFileRoutes } from '#infra/functions/environment-files.ts';
import { environmentGovernanceRoutes } from '#infra/functions/environment-governance.ts';
import { templateRoutes } from '#infra/functions/environment-templates.ts';
import { functionIds, lifecycleFunctions } from '#infra/stack/functions.ts';
import { productTable } from '#test/support/table.ts';
import {
  bundles,
  environmentOf,
  functionProperties,
  only,
  readable,
  resources,
  routesOf,
  synthesizedMachine,
  template,
} from './template.ts';

/** The class of its log group. */
const logOf = (functionId: string): string => {
  const { LogGroup } = functionProperties(functionId).LoggingConfig as { LogGroup: { Ref: string } };
  return LogGroup.Ref.replace(/^FunctionLogs|[0-9A-F]{8}$/g, '');
};

describe('the stack', () => {
  it('has no fixed names, so it can be deployed twice into an account', () => {
    const named = resources().flatMap(({ id, Type, Properties }) =>
      Object.entries(Properties)
        .filter(([key, value]) => /(?<!Metric)Name$|^Family$/.test(key) && typeof value === 'string')
        .map(([key, value]) => `${Type} ${id}: ${key} = ${value}`),
    );
    // An inline policy's name and a stage's are unique only within their role and API.
    expect(
      named.filter((line) => !/AWS::IAM::Policy .* PolicyName|AWS::ApiGatewayV2::Stage .* StageName/.test(line)),
    ).toEqual([]);
  });

  it('has no circular dependencies', () => {
    const needs = new Map(
      resources().map(({ id, ...resource }) => [
        id,
        [...references(resource)].filter((other) => other in template.Resources),
      ]),
    );
    const done = new Set<string>();
    const visit = (id: string, path: string[]): void => {
      if (path.includes(id)) throw new Error(`circular: ${[...path, id].join(' → ')}`);
      if (done.has(id)) return;
      for (const other of needs.get(id) ?? []) visit(other, [...path, id]);
      done.add(id);
    };
    for (const id of needs.keys()) visit(id, []);
    expect(done.size).toBe(resources().length);
  });

  it('has no implicit CDK resources', () => {
    expect(
      resources('AWS::Lambda::Function')
        .map(({ id }) => id)
        .sort(),
    ).toEqual(functionIds.map((id) => `${id}Function`).sort());
    expect(
      resources().filter(({ Type }) => Type.startsWith('Custom::') || Type === 'AWS::CloudFormation::CustomResource'),
    ).toEqual([]);
  });

  it('outputs the addresses for the operator', () => {
    expect(Object.keys(template.Outputs).sort()).toEqual([
      'ApiUrl',
      'BootstrapFunctionName',
      'BucketName',
      'DataFormat',
      'DeployedSettings',
      'DrainFunctionName',
      'EnvironmentsUrl',
      'KeyArn',
      'RecoverFunctionName',
      'StateMachineArn',
      'TableName',
    ]);
  });

  it('runs every function on Node 24 and arm64, with a log group of its class, with retention', () => {
    const logs = resources('AWS::Lambda::Function').map(({ id, Properties }) => {
      expect(Properties, id).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } },
      });
      expect(Properties.TracingConfig, id).toBeUndefined();
      return logOf(id.replace(/Function$/, ''));
    });
    expect([...new Set(logs)].sort()).toEqual(['Api', 'Background', 'Environments', 'Lifecycle', 'Sweep']);
    expect(logOf('Runs')).toBe('Api');
    expect(logOf('EnvironmentLogs')).toBe('Environments');
    expect(logOf('Complete')).toBe('Lifecycle');
    expect(logOf('Bootstrap')).toBe('Background');
    for (const { id, Properties } of resources('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays, id).toBe(30);
  });
});

const storageKey = () => {
  const [key, ...more] = resources('AWS::KMS::Key').filter(({ Properties }) => Properties.KeyUsage === undefined);
  if (!key || more.length) throw new Error('expected one key that encrypts');
  return key;
};

describe('storage', () => {
  it('retains table, bucket, key and logs on deletion, but nothing of a failed first deployment', () => {
    const retained = [
      only('AWS::DynamoDB::Table'),
      only('AWS::S3::Bucket'),
      storageKey(),
      ...resources('AWS::Logs::LogGroup'),
    ];
    for (const resource of retained)
      expect(resource, resource.id).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    const others = resources().filter(({ id }) => !retained.some((one) => one.id === id));
    expect(others.filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete')).toEqual([]);
  });

  it('has the table of the tests, on demand, encrypted and with backups', () => {
    expect(only('AWS::DynamoDB::Table').Properties).toMatchObject({
      ...productTable('').properties,
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
    });
  });

  it('has a private, versioned, encrypted bucket with upload events', () => {
    expect(only('AWS::S3::Bucket').Properties).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [
          { BucketKeyEnabled: true, ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms' } },
        ],
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    });
    const [deny] = (only('AWS::S3::BucketPolicy').Properties.PolicyDocument as { Statement: object[] }).Statement;
    expect(deny).toMatchObject({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } });
    expect(storageKey().Properties).toMatchObject({ EnableKeyRotation: true });
  });
});

describe('workload identity', () => {
  it('has a key that can only sign and cannot be exported', () => {
    const keys = resources('AWS::KMS::Key').filter(({ id }) => id !== storageKey().id);
    expect(keys).toHaveLength(1);
    expect(keys[0]?.Properties).toMatchObject({ KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY', PendingWindowInDays: 7 });
    for (const id of ['Identity', 'Runner']) {
      expect(readable(environmentOf(id).IDENTITY_KEY_ARNS), id).toBe('identity-key');
      expect(readable(environmentOf(id).PUBLIC_URL), id).toMatch(/\.ApiEndpoint$/);
    }
  });
});

/** The environments' API has a separate test. */
const ofMainApi = ({ id }: { id: string }) => !id.startsWith('EnvironmentApi');
const mainStage = () => resources('AWS::ApiGatewayV2::Stage').find(ofMainApi) as ReturnType<typeof only>;

describe('the environments’ API', () => {
  const own = (type: string) => resources(type).filter(({ id }) => id.startsWith('EnvironmentApi'));

  it('routes builds, templates, files and organization events to functions of their own', () => {
    const handedOver = {
      EnvironmentBuilds: environmentBuildRoutes,
      EnvironmentTemplates: templateRoutes,
      EnvironmentFiles: environmentFileRoutes,
      EnvironmentGovernance: environmentGovernanceRoutes,
    };
    expect(routesOf('EnvironmentApi')).toEqual({
      $default: 'EnvironmentsFunction',
      ...Object.fromEntries(
        Object.entries(handedOver).flatMap(([id, keys]) => keys.map((key) => [key, `${id}Function`])),
      ),
    });
  });

  it('routes connections to the function that sends logs', () => {
    expect(resources('AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties.RouteKey)).toEqual(['$connect']);
    const [{ Properties } = {}, ...more] = resources('AWS::ApiGatewayV2::Integration');
    expect(more).toEqual([]);
    expect(readable(Properties?.IntegrationUri)).toContain('functions/EnvironmentLogsFunction/invocations');
  });

  it('keeps tokens and tickets in queries out of the access logs', () => {
    const stages = own('AWS::ApiGatewayV2::Stage');
    const formats = stages.flatMap(
      ({ Properties }) => (Properties.AccessLogSettings as { Format: string } | undefined) ?? [],
    );
    expect(formats).toHaveLength(1);
    expect(formats[0]?.Format).not.toMatch(/\$context\.path|rawPath|[qQ]uery/);
  });
});

describe('the HTTP API', () => {
  it('routes', () => {
    const routes = Object.entries(routesOf('HttpApi'));
    const apart = routes.filter(
      ([key, to]) =>
        /^\w+ \/api\/v2\/(?!\{proxy)/.test(key ?? '') &&
        /^(Api|Runs|States|Access|Organizations|Workspaces|Settings|Governance|Policies|Registry|Modules|TestRuns|VersionControl)Function$/.test(
          to ?? '',
        ),
    );
    expect(Object.fromEntries(routes.filter((route) => !apart.includes(route)))).toEqual({
      'ANY /api/v2/{proxy+}': 'ApiFunction',
      'GET /.well-known/{proxy+}': 'ApiFunction',
      'ANY /api/meta/{proxy+}': 'ApiFunction',
      'GET /.well-known/openid-configuration': 'IdentityFunction',
      'GET /.well-known/jwks': 'IdentityFunction',
      'ANY /oauth/{proxy+}': 'SignInFunction',
      'ANY /scim/v2/{proxy+}': 'ScimFunction',
      'ANY /slack/{proxy+}': 'SlackFunction',
      'ANY /api/v2/account/slack-links': 'SlackFunction',
      'ANY /api/v2/organizations/{organization}/slack-app': 'SlackFunction',
      'ANY /api/v2/organizations/{organization}/slack-link': 'SlackFunction',
      'ANY /users/{proxy+}': 'SamlFunction',
      'ANY /api/v2/admin/saml-settings': 'SamlFunction',
      'ANY /api/v2/admin/saml-settings/{proxy+}': 'SamlFunction',
      'GET /logs/{proxy+}': 'LogsFunction',
      $default: 'WebFunction',
      'GET /api/v2/openapi.json': 'WebFunction',
      'ANY /docs/{proxy+}': 'DocsFunction',
      'ANY /runner/v1/{proxy+}': 'RunnerFunction',
      'ANY /agent/v1/{proxy+}': 'AgentFunction',
      'ANY /api/registry/{proxy+}': 'RegistryFunction',
      'ANY /api/v2/organizations/{organization}/explorer': 'ExplorerFunction',
      'ANY /api/v2/organizations/{organization}/explorer/{proxy+}': 'ExplorerFunction',
      'ANY /auth/{proxy+}': 'VersionControlFunction',
      'ANY /webhooks/{proxy+}': 'WebhooksFunction',
      'ANY /environments/api/v2/{proxy+}': 'EnvironmentsFunction',
      'ANY /environments/builds/api/v2/{proxy+}': 'EnvironmentBuildsFunction',
      'ANY /environments/templates/api/v2/{proxy+}': 'EnvironmentTemplatesFunction',
    });
  });

  it('passes the allowed internal addresses only to functions that send requests', () => {
    const told = functionIds.filter((id) => 'OUTBOUND_ALLOWED_CIDRS' in environmentOf(id));
    expect(told.sort()).toEqual([
      'CommitStatus',
      'FetchCommit',
      'FetchProvider',
      'Governance',
      'Modules',
      'Notify',
      'Policies',
      'RunTask',
      'Settings',
      'SignIn',
      'Slack',
      'Trace',
      'VersionControl',
      'VersionControlEvent',
      'Workspaces',
    ]);
    expect(environmentOf('Governance')).not.toHaveProperty('STATE_MACHINE_ARN');
  });

  it('limits requests per user only on the public API', () => {
    const limited = functionIds.filter((id) => environmentOf(id).REQUESTS_PER_SECOND === '30');
    expect(limited.sort()).toEqual([
      'Access',
      'Api',
      'EnvironmentBuilds',
      'EnvironmentFiles',
      'EnvironmentGovernance',
      'EnvironmentTemplates',
      'Environments',
      'Explorer',
      'Governance',
      'Modules',
      'Organizations',
      'Policies',
      'Registry',
      'Runs',
      'Saml',
      'Scim',
      'Settings',
      'SignIn',
      'Slack',
      'States',
      'TestRuns',
      'VersionControl',
      'Webhooks',
      'Workspaces',
    ]);
  });

  it('throttles the public API before logs and runners', () => {
    const stage = mainStage().Properties as {
      DefaultRouteSettings: { ThrottlingRateLimit: number; ThrottlingBurstLimit: number };
      RouteSettings: Record<string, { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }>;
    };
    const { DefaultRouteSettings: all, RouteSettings: own } = stage;
    expect(Object.keys(own).sort()).toEqual([
      'ANY /runner/v1/{proxy+}',
      'ANY /webhooks/{proxy+}',
      'GET /logs/{proxy+}',
    ]);
    for (const limit of Object.values(own)) {
      expect(limit.ThrottlingRateLimit).toBeGreaterThan(all.ThrottlingRateLimit);
      expect(limit.ThrottlingBurstLimit).toBeGreaterThan(all.ThrottlingBurstLimit);
      // An account's quota in newer regions (API Gateway: quotas).
      expect(limit.ThrottlingRateLimit).toBeLessThanOrEqual(2500);
      expect(limit.ThrottlingBurstLimit).toBeLessThanOrEqual(1250);
    }
  });

  it("keeps log URLs' secrets out of the access log", () => {
    const { Format } = mainStage().Properties.AccessLogSettings as { Format: string };
    expect(Format).toContain('$context.routeKey');
    expect(Format).not.toMatch(/\$context\.path|rawPath|proxy/);
  });

  it('passes its URL to functions that start runners', () => {
    for (const id of ['PlanQueued', 'ApplyQueued', 'Sweep'])
      expect(readable(environmentOf(id).PUBLIC_URL), id).toMatch(/\.ApiEndpoint$/);
  });
});

describe('the state machine', () => {
  it('is valid Amazon States Language', () => {
    const { isValid, errorsText } = aslValidator(synthesizedMachine(), { checkPaths: true, checkArn: true });
    expect(errorsText('\n')).toBe('');
    expect(isValid).toBe(true);
  });

  it("retries long enough when the account's Lambda concurrency is used up", () => {
    const states = (machine: unknown): Record<string, unknown>[] => {
      const { States = {} } = machine as { States?: Record<string, Record<string, unknown>> };
      return Object.values(States).flatMap((state) => [state, ...states(state.ItemProcessor ?? {})]);
    };
    const tasks = states(synthesizedMachine()).filter(({ Type }) => Type === 'Task');
    expect(tasks.length).toBeGreaterThan(25);
    for (const { Comment, Retry } of tasks) {
      const first = (Retry as { ErrorEquals: string[]; MaxAttempts: number; MaxDelaySeconds: number }[]).find(
        ({ ErrorEquals }) =>
          ErrorEquals.some((name) => ['Lambda.TooManyRequestsException', 'States.ALL'].includes(name)),
      );
      expect([Comment, first]).toEqual([
        Comment,
        expect.objectContaining({ ErrorEquals: ['Lambda.TooManyRequestsException'], MaxAttempts: 60 }),
      ]);
    }
  });

  it('logs execution events without their data', () => {
    expect(only('AWS::StepFunctions::StateMachine').Properties.LoggingConfiguration).toMatchObject({
      Level: 'ALL',
      IncludeExecutionData: false,
    });
  });
});

describe('runners', () => {
  const definition = only('AWS::ECS::TaskDefinition').Properties as {
    ContainerDefinitions: Record<string, unknown>[];
  } & Record<string, unknown>;

  it('are Fargate containers with a read-only root file system and time to stop', () => {
    expect(definition).toMatchObject({
      RequiresCompatibilities: ['FARGATE'],
      RuntimePlatform: { CpuArchitecture: 'X86_64' },
      Cpu: '1024',
      Memory: '2048',
    });
    expect(definition.ContainerDefinitions).toHaveLength(1);
    const [container] = definition.ContainerDefinitions;
    expect(container).toMatchObject({
      Name: readable(environmentOf('PlanQueued').CONTAINER_NAME),
      ReadonlyRootFilesystem: true,
      MountPoints: [{ ContainerPath: '/tmp', ReadOnly: false }],
      StopTimeout: 120,
      // runner.test.ts tests its capabilities.
      LinuxParameters: { InitProcessEnabled: true },
    });
    expect(container).not.toHaveProperty('Environment');
    expect(container).not.toHaveProperty('Secrets');
  });

  it('accept no inbound traffic', () => {
    expect(only('AWS::EC2::SecurityGroup').Properties).not.toHaveProperty('SecurityGroupIngress');
    expect(resources('AWS::EC2::SecurityGroupIngress')).toEqual([]);
  });

  it('cost nothing while idle', () => {
    expect(resources('AWS::EC2::NatGateway')).toEqual([]);
    expect(resources('AWS::ECS::Service')).toEqual([]);
  });
});

describe('events', () => {
  const rules = resources('AWS::Events::Rule').map(({ Properties }) => {
    const [target, ...more] = Properties.Targets as { Arn: unknown; DeadLetterConfig?: object }[];
    expect(more).toEqual([]);
    return { ...Properties, to: readable(target?.Arn), lossless: Boolean(target?.DeadLetterConfig) } as {
      to: string;
      lossless: boolean;
      EventPattern?: { detail: Record<string, unknown> };
      ScheduleExpression?: string;
    };
  });
  const rule = (to: string) => rules.find((candidate) => candidate.to === `${to}Function`);

  it('are routed to their functions', () => {
    expect(rules).toHaveLength(6);
    expect(rule('ExecutionStopped')?.EventPattern).toMatchObject({
      source: ['aws.states'],
      'detail-type': ['Step Functions Execution Status Change'],
      detail: { status: ['FAILED', 'ABORTED', 'TIMED_OUT'] },
    });
    expect(readable(rule('ExecutionStopped')?.EventPattern?.detail.stateMachineArn)).toBe('machine');
    expect(rule('RunApplied')?.EventPattern).toMatchObject({
      detail: { status: ['SUCCEEDED'], output: [{ wildcard: '*"StartsRuns"*' }] },
    });
    expect(rule('RunnerStopped')?.EventPattern).toMatchObject({
      source: ['aws.ecs'],
      'detail-type': ['ECS Task State Change'],
      detail: {
        lastStatus: ['STOPPED'],
        $or: [
          { containers: { exitCode: [{ 'anything-but': [0] }, { exists: false }] } },
          { group: ['stepform-slots'] },
        ],
      },
    });
    expect(readable(rule('RunnerStopped')?.EventPattern?.detail.clusterArn)).toBe('cluster');
    expect(rule('ConfigurationUploaded')?.EventPattern).toMatchObject({
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { object: { key: [{ prefix: 'uploads/cv-' }] } },
    });
    expect(rule('StateUploaded')?.EventPattern).toMatchObject({
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { object: { key: [{ wildcard: 'uploads/sv-*.tfstate' }] } },
    });
    expect(rule('Sweep')?.ScheduleExpression).toBe('rate(1 minute)');
  });

  it('go to the dead-letter queue when delivery or handling fails', () => {
    for (const to of ['ExecutionStopped', 'RunApplied', 'RunnerStopped', 'ConfigurationUploaded', 'StateUploaded']) {
      expect(rule(to)?.lossless, to).toBe(true);
      const retries = resources('AWS::Lambda::EventInvokeConfig').find(
        ({ Properties }) => readable(Properties.FunctionName) === `${to}Function`,
      );
      const destination = retries?.Properties.DestinationConfig as { OnFailure: { Destination: unknown } } | undefined;
      expect(readable(destination?.OnFailure.Destination), to).toBe('lost-events');
    }
  });
});

describe('operations', () => {
  it('have alarms for failures', () => {
    expect(
      resources('AWS::CloudWatch::Alarm')
        .map(({ id }) => id.replace(/^Operations|[0-9A-F]{8}$/g, ''))
        .sort(),
    ).toEqual([
      'ApiErrors',
      'ExecutionsFailed',
      'FunctionThrottles',
      'LostEvents',
      'PlatformFaults',
      'SweepFailed',
      'SweepRepairs',
      'TableThrottles',
    ]);
    for (const { id, Properties } of resources('AWS::CloudWatch::Alarm'))
      expect(Properties, id).toMatchObject({ TreatMissingData: 'notBreaching', AlarmDescription: expect.anything() });
  });

  it('have a row for each alarm in the runbook', () => {
    const runbook = readFileSync('infra/docs/operations.md', 'utf8');
    const names = resources('AWS::CloudWatch::Alarm').map(({ id }) => id.replace(/^Operations|[0-9A-F]{8}$/g, ''));
    expect(
      [...names, 'BackupMissing', 'ReplicationFailed'].filter((name) => !runbook.includes(`| \`${name}\` |`)),
    ).toEqual([]);
  });

  it('have metric filters on the logs', () => {
    const counted = resources('AWS::Logs::MetricFilter').map(({ Properties }) => {
      const [{ MetricName, DefaultValue } = {}] = Properties.MetricTransformations as Record<string, unknown>[];
      // A value for each line that does not match would be a billed metric.
      expect(DefaultValue).toBeUndefined();
      return [MetricName, Properties.FilterPattern, readable(Properties.LogGroupName).replace(/[0-9A-F]{8}$/, '')];
    });
    expect(counted).toEqual([
      ['PlatformFaults', '"repair failed"', 'FunctionLogsSweep'],
      ['ApiErrors', '{ $.status = "5*" && ($.status != "503" || $.error != "-") }', 'HttpApiAccessLog'],
      ['SweepRepairs', '"repaired"', 'FunctionLogsSweep'],
      ['PlatformFaults', '"platform fault"', 'FunctionLogsLifecycle'],
    ]);
    const { Format } = mainStage().Properties.AccessLogSettings as { Format: string };
    expect(JSON.parse(Format)).toMatchObject({
      status: '$context.status',
      error: '$context.integrationErrorMessage',
    });
    // The filter counts any matching line of the log group, so the sweep must be its only writer.
    expect(functionIds.filter((id) => logOf(id) === 'Sweep')).toEqual(['Sweep']);
    const sweep = readFileSync(bundles.functions.Sweep.file, 'utf8');
    for (const event of ['repaired', 'repair failed']) expect(sweep).toContain(`"${event}"`);
    // Other functions of states must not write these words.
    const writers = lifecycleFunctions.filter((id) =>
      readFileSync(bundles.functions[id].file, 'utf8').includes('"platform fault"'),
    );
    expect(writers).toEqual(['Complete']);
  });

  it('have a valid CloudWatch dashboard', () => {
    const { widgets } = JSON.parse(readable(only('AWS::CloudWatch::Dashboard').Properties.DashboardBody)) as {
      widgets: { properties: { title: string } }[];
    };
    expect(widgets.map(({ properties }) => properties.title)).toContain('Runs by outcome');
    expect(widgets.length).toBeGreaterThan(6);
  });
});

/** Logical ids in `Ref`, `Fn::GetAtt`, `Fn::Sub` and `DependsOn`. */
function* references(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* references(item);
  else if (value && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'Ref') yield inner as string;
      else if (key === 'Fn::GetAtt') yield (inner as string[])[0] as string;
      else if (key === 'Fn::Sub') yield* [...String(inner).matchAll(/\$\{(\w+)/g)].map(([, id]) => id as string);
      else if (key === 'DependsOn') yield* [inner].flat() as string[];
      else yield* references(inner);
    }
  }
}
