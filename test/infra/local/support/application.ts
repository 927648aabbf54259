import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Application } from '#infra/local/assembly/site.ts';
import { Host } from '#infra/local/host/host.ts';
import type { Template } from '#infra/local/host/template.ts';
import { temporaryFolder } from './functions.ts';

/** A small application with one resource of each kind. Its function `Caller` makes the AWS calls in its event. */

type Statement = { Effect: string; Action: string | string[]; Resource: unknown; Condition?: object };

const arn = (id: string) => ({ 'Fn::GetAtt': [id, 'Arn'] });
const objects = (prefix: string) => ({ 'Fn::Join': ['', [arn('Bucket'), `/${prefix}/*`]] });

/** Permissions of `Caller`, by default. */
export const callerStatements: Statement[] = [
  {
    Effect: 'Allow',
    Action: ['dynamodb:BatchGetItem', 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
    Resource: arn('Table'),
  },
  { Effect: 'Allow', Action: 's3:GetObject', Resource: [objects('states'), objects('runs')] },
  { Effect: 'Allow', Action: 's3:PutObject', Resource: objects('states') },
  { Effect: 'Allow', Action: ['kms:GenerateDataKey', 'kms:Decrypt'], Resource: arn('Key') },
  { Effect: 'Allow', Action: 'states:StartExecution', Resource: { Ref: 'Machine' } },
  {
    Effect: 'Allow',
    Action: 'ecs:RunTask',
    Resource: 'arn:aws:ecs:us-east-1:000000000000:task-definition/stepform-runner:*',
    Condition: { ArnEquals: { 'ecs:cluster': arn('Cluster') } },
  },
  {
    Effect: 'Allow',
    Action: 'iam:PassRole',
    Resource: [arn('TaskRole'), arn('ExecutionRole')],
    Condition: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
  },
];

const role = (statements: Statement[]) => ({
  Type: 'AWS::IAM::Role',
  Properties: { Policies: [{ PolicyName: 'P', PolicyDocument: { Statement: statements } }] },
});
const fn = (roleId: string, variables: object = {}) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Role: arn(roleId),
    Handler: 'index.handler',
    Timeout: 10,
    MemorySize: 512,
    Environment: { Variables: variables },
  },
});
const permission = (functionId: string, principal: string, source: unknown) => ({
  Type: 'AWS::Lambda::Permission',
  Properties: {
    Action: 'lambda:InvokeFunction',
    FunctionName: arn(functionId),
    Principal: principal,
    SourceArn: source,
  },
});
const rule = (pattern: object) => ({
  Type: 'AWS::Events::Rule',
  Properties: { State: 'ENABLED', EventPattern: pattern, Targets: [{ Id: 'T', Arn: arn('RecordsFunction') }] },
});

const integrations = 'x-amazon-apigateway-integrations';

export const testTemplate = (statements = callerStatements): Template => ({
  Resources: {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        AttributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
      },
    },
    Bucket: {
      Type: 'AWS::S3::Bucket',
      Properties: {
        NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [
            { ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: arn('Key') } },
          ],
        },
      },
    },
    Key: { Type: 'AWS::KMS::Key', Properties: {} },
    CallerRole: role(statements),
    CallerFunction: fn('CallerRole', { TABLE_NAME: { Ref: 'Table' }, BUCKET_NAME: { Ref: 'Bucket' } }),
    RecordsRole: role([{ Effect: 'Allow', Action: 'dynamodb:PutItem', Resource: arn('Table') }]),
    RecordsFunction: fn('RecordsRole', { TABLE_NAME: { Ref: 'Table' } }),
    MachineRole: role([{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: arn('CallerFunction') }]),
    Machine: {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: {
        RoleArn: arn('MachineRole'),
        DefinitionString: {
          'Fn::Join': [
            '',
            [
              '{"StartAt":"Call","States":{"Call":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"',
              arn('CallerFunction'),
              '","Payload.$":"$"},"End":true}}}',
            ],
          ],
        },
      },
    },
    Cluster: { Type: 'AWS::ECS::Cluster' },
    TaskRole: role([]),
    ExecutionRole: role([]),
    TaskDefinition: {
      Type: 'AWS::ECS::TaskDefinition',
      Properties: {
        Family: 'stepform-runner',
        Cpu: '1024',
        Memory: '2048',
        TaskRoleArn: arn('TaskRole'),
        ExecutionRoleArn: arn('ExecutionRole'),
        ContainerDefinitions: [{ Name: 'runner', StopTimeout: 1 }],
      },
    },
    ApiRole: role([]),
    ApiPermission: {
      Type: 'AWS::IAM::Policy',
      Properties: {
        PolicyDocument: {
          Statement: [{ Effect: 'Allow', Action: 'lambda:InvokeFunction', Resource: arn('CallerFunction') }],
        },
        Roles: [{ Ref: 'ApiRole' }],
      },
    },
    Api: {
      Type: 'AWS::ApiGatewayV2::Api',
      Properties: {
        Body: {
          paths: {
            '/call/{proxy+}': {
              post: { 'x-amazon-apigateway-integration': { $ref: `#/components/${integrations}/Caller` } },
              parameters: [{ name: 'proxy+', in: 'path', required: true, schema: { type: 'string' } }],
            },
          },
          components: {
            [integrations]: {
              Caller: {
                type: 'aws_proxy',
                payloadFormatVersion: '2.0',
                timeoutInMillis: 30_000,
                credentials: arn('ApiRole'),
                uri: {
                  'Fn::Join': [
                    '',
                    [
                      'arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/arn:aws:lambda:us-east-1:',
                      { Ref: 'AWS::AccountId' },
                      // biome-ignore lint/suspicious/noTemplateCurlyInString: API Gateway's way to name a stage variable
                      ':function:${stageVariables.Caller}/invocations',
                    ],
                  ],
                },
              },
            },
          },
        },
      },
    },
    Stage: {
      Type: 'AWS::ApiGatewayV2::Stage',
      Properties: { ApiId: { Ref: 'Api' }, StageVariables: { Caller: { Ref: 'CallerFunction' } } },
    },
    Created: rule({
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: { object: { key: [{ prefix: 'states/' }] } },
    }),
    CreatedPermission: permission('RecordsFunction', 'events.amazonaws.com', arn('Created')),
    Ended: rule({
      source: ['aws.states'],
      'detail-type': ['Step Functions Execution Status Change'],
      detail: { status: ['SUCCEEDED'] },
    }),
    EndedPermission: permission('RecordsFunction', 'events.amazonaws.com', arn('Ended')),
  },
});

const bundles = join(temporaryFolder(), 'bundles');
let built: Promise<unknown> | undefined;

const buildFunctions = () =>
  build({
    entryPoints: ['caller', 'records'].map((name) => ({
      in: resolve(import.meta.dirname, `${name}.ts`),
      out: `${name}/index`,
    })),
    outdir: bundles,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    mainFields: ['module', 'main'],
    alias: {
      '@aws-sdk/credential-provider-node': resolve(import.meta.dirname, '../../../../infra/build/sdk/credentials.ts'),
    },
    logLevel: 'silent',
  });

const testApplication = async (template = testTemplate()): Promise<Application> => {
  built ??= buildFunctions();
  await built;
  mkdirSync(bundles, { recursive: true });
  const runner = join(bundles, 'runner.cjs');
  // A task that runs until it is stopped.
  writeFileSync(runner, 'setInterval(() => {}, 1000); exports.runTask = () => new Promise(() => {});');
  const files: Record<string, string> = {
    CallerFunction: join(bundles, 'caller/index.js'),
    RecordsFunction: join(bundles, 'records/index.js'),
  };
  return { template, runner, bundleOf: (id) => files[id] };
};

export const startHost = async (dataDir = temporaryFolder(), template = testTemplate()): Promise<Host> => {
  const application = testApplication(template);
  const host = new Host({ dataDir, application, port: 0, httpsPort: 0, runnerEnvironment: {} });
  try {
    await host.start();
    return host;
  } catch (error) {
    await host.close();
    throw error;
  }
};
