import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { environmentFunctionIds } from '#infra/stack/environment-api.ts';
import { featureFlags } from '#infra/stack/feature-flags.ts';
import { functionIds, httpFunctionIds } from '#infra/stack/functions.ts';
import {
  environmentOf,
  functionProperties,
  permissionsOf,
  readable,
  resources,
  roleOf,
  routesOf,
  synthesizedMachine,
  template,
} from './template.ts';

/**
 * Rules of AWS that no validator checks, each with its source: a deployment into a new account would break on them
 * first.
 */

describe('a first deployment, in any partition', () => {
  it('has no access log on a WebSocket stage, which needs a role that new accounts lack (aws-cdk #33977)', () => {
    const sockets = resources('AWS::ApiGatewayV2::Api').filter(
      ({ Properties }) => Properties.ProtocolType === 'WEBSOCKET',
    );
    expect(sockets).toHaveLength(1);
    const stages = resources('AWS::ApiGatewayV2::Stage').filter(
      ({ Properties }) => (Properties.ApiId as { Ref: string }).Ref === sockets[0]?.id,
    );
    expect(stages.map(({ Properties }) => Properties.AccessLogSettings)).toEqual([undefined]);
    expect(resources('AWS::ApiGateway::Account')).toEqual([]);
  });

  it('names no partition (aws-cdk #4597)', () => {
    expect(JSON.stringify(template).match(/.{40}arn:aws[:-].{40}/g)).toBeNull();
    expect(JSON.stringify(synthesizedMachine())).toContain(':states:::lambda:invoke.waitForTaskToken');
  });

  it('names log groups of log delivery below /aws/vendedlogs, apart for each stack (aws-cdk #28900)', () => {
    const destinations = [
      ...resources('AWS::ApiGatewayV2::Stage').map(({ Properties }) =>
        JSON.stringify(Properties.AccessLogSettings ?? ''),
      ),
      ...resources('AWS::StepFunctions::StateMachine').map(({ Properties }) =>
        JSON.stringify(Properties.LoggingConfiguration),
      ),
    ];
    const groups = resources('AWS::Logs::LogGroup').filter(({ id }) =>
      destinations.some((text) => text.includes(`"${id}"`)),
    );
    expect(groups).toHaveLength(3);
    for (const { Properties } of groups) {
      const name = JSON.stringify(Properties.LogGroupName);
      expect(name).toContain('/aws/vendedlogs/');
      expect(name).toContain('{"Ref":"AWS::StackId"}');
    }
  });

  it('has a data key that can have replicas in other regions (KMS: a single-region key never can)', () => {
    const keys = resources('AWS::KMS::Key').filter(({ id }) => id.startsWith('Storage'));
    expect(keys.map(({ Properties }) => Properties.MultiRegion)).toEqual([true]);
  });
});

it("has the CDK's recommended flags for its services, before the first release freezes them (CDK: feature flags)", () => {
  const recommended = createRequire(import.meta.url)(
    'aws-cdk-lib/recommended-feature-flags.json',
  ) as typeof featureFlags;
  const scopes = new Set(Object.keys(featureFlags).map((flag) => flag.split(':')[0]));
  const ofServices = Object.entries(recommended).filter(([flag]) => scopes.has(flag.split(':')[0]));
  expect(ofServices.length).toBeGreaterThan(40);
  const different = ofServices.filter(([flag, value]) => JSON.stringify(featureFlags[flag]) !== JSON.stringify(value));
  expect(different.map(([flag]) => flag).sort()).toEqual([
    // Would add a function of the CDK.
    '@aws-cdk/aws-ec2:restrictDefaultSecurityGroup',
    // Also GovCloud.
    '@aws-cdk/core:target-partitions',
  ]);
});

describe('a deleted stack, and the deployment after it', () => {
  it('keeps table, bucket and key, also of a replaced resource (CloudFormation: DeletionPolicy)', () => {
    const kept = resources().filter(
      ({ id, Type }) => id.startsWith('Storage') && /^AWS::(DynamoDB::Table|S3::Bucket|KMS::Key)$/.test(Type),
    );
    expect(kept).toHaveLength(3);
    for (const { id, DeletionPolicy, UpdateReplacePolicy } of kept)
      expect([id, DeletionPolicy, UpdateReplacePolicy]).toEqual([id, 'RetainExceptOnCreate', 'Retain']);
  });

  it('lets every function with rights on the table use its key, and only through DynamoDB (DynamoDB: encryption at rest)', () => {
    const needed = ['kms:CreateGrant', 'kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey'];
    const withTable = functionIds.filter((id) =>
      permissionsOf(roleOf(id)).some((line) => /^dynamodb:\w+ table/.test(line)),
    );
    expect(withTable.length).toBeGreaterThan(40);
    for (const id of withTable)
      for (const action of needed)
        expect(permissionsOf(roleOf(id)), id).toContain(
          `${action} key if kms:ViaService StringEquals dynamodb.region.amazonaws.com`,
        );
  });

  it("adds no function of the CDK, whose runtime ends without this stack's doing (CDK: custom resources)", () => {
    const types = resources().map(({ Type }) => Type);
    expect(
      types.filter((type) => type.startsWith('Custom::') || type === 'AWS::CloudFormation::CustomResource'),
    ).toEqual([]);
    expect(types.filter((type) => type === 'AWS::Lambda::Function')).toHaveLength(functionIds.length);
  });
});

describe('limits that a deployment enforces and no validator checks', () => {
  it('keeps the inline policies of a role below 10,240 characters (IAM: quotas), with room for long names', () => {
    // The maximum length of a resolved reference: an ARN with a stack's name in it.
    const length = (policy: unknown): number =>
      JSON.stringify(policy, (_, value) => {
        const [key] = value && typeof value === 'object' && !Array.isArray(value) ? Object.keys(value) : [];
        return key === 'Ref' || key?.startsWith('Fn::') ? 'x'.repeat(110) : value;
      }).replaceAll(/\s/g, '').length;
    const attached = (role: string) =>
      resources('AWS::IAM::Policy').filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}"`));
    const sizes = resources('AWS::IAM::Role').map(({ id, Properties }) => ({
      id,
      size: length(Properties.Policies ?? []) + length(attached(id).map((one) => one.Properties.PolicyDocument)),
    }));
    expect(Math.max(...sizes.map(({ size }) => size))).toBeGreaterThan(2_000);
    expect(sizes.filter(({ size }) => size > 10_240)).toEqual([]);
  });

  it('keeps the environment of a function below 4 KB (Lambda: quotas)', () => {
    const size = (variables: Record<string, unknown>) =>
      Object.entries(variables).reduce(
        (sum, [name, value]) => sum + name.length + Math.max(110, readable(value).length),
        0,
      );
    expect(functionIds.filter((id) => size(environmentOf(id)) > 4_096)).toEqual([]);
  });

  it('sets no variable that Lambda reserves (Lambda: defined runtime environment variables)', () => {
    const names = functionIds.flatMap((id) => Object.keys(environmentOf(id)));
    expect(names.length).toBeGreaterThan(200);
    expect(names.filter((name) => /^(AWS_|LAMBDA_|_)/.test(name))).toEqual([]);
  });

  it('describes roles and security groups in characters that IAM and EC2 accept (IAM: CreateRole; EC2: CreateSecurityGroup)', () => {
    const roles = resources('AWS::IAM::Role').flatMap(({ Properties }) => Properties.Description ?? []);
    expect(roles.length).toBeGreaterThan(50);
    expect(roles.filter((text) => !/^[\t\n\r\x20-\x7e\xa1-\xff]{0,1000}$/.test(String(text)))).toEqual([]);
    const groups = JSON.stringify(resources('AWS::EC2::SecurityGroup').map(({ Properties }) => Properties));
    const texts = [...groups.matchAll(/"(?:Group)?Description":"([^"]*)"/g)].map(([, text]) => text);
    expect(texts).toHaveLength(2);
    expect(texts.filter((text) => !/^[\w .:/()#,@[\]+=&;{}!$*-]{0,255}$/.test(text ?? ''))).toEqual([]);
  });

  it('has a definition of the state machine below 1 MB (Step Functions: quotas)', () => {
    expect(JSON.stringify(synthesizedMachine()).length).toBeLessThan(1024 * 1024);
  });

  it('has every function behind an HTTP API time out before API Gateway does after 30 s (HTTP APIs: quotas)', () => {
    const behind = [...new Set([...httpFunctionIds, ...environmentFunctionIds])];
    expect(behind.length).toBeGreaterThan(24);
    expect(behind.filter((id) => Number(functionProperties(id).Timeout) >= 30)).toEqual([]);
  });

  it('has at most 300 routes in an API (HTTP APIs: quotas)', () => {
    for (const api of ['HttpApi', 'EnvironmentApi'] as const) {
      const count = Object.keys(routesOf(api)).length;
      expect(count).toBeGreaterThan(10);
      expect(count).toBeLessThanOrEqual(300);
    }
  });

  it('limits only routes that exist: a stage that names others is refused (serverless-application-model #2479)', () => {
    const limited = resources('AWS::ApiGatewayV2::Stage').flatMap(({ Properties }) =>
      Object.keys((Properties.RouteSettings ?? {}) as object),
    );
    expect(limited.length).toBeGreaterThan(0);
    expect(limited.filter((key) => !(key in routesOf('HttpApi')))).toEqual([]);
  });

  it('has no route or integration beside the document of an HTTP API (AWS::ApiGatewayV2::Api: Body)', () => {
    const documented = resources('AWS::ApiGatewayV2::Api').filter(({ Properties }) => Properties.Body !== undefined);
    for (const { id, Properties } of documented) expect(Object.keys(Properties), id).toEqual(['Body']);
    const beside = resources().filter(
      ({ Type, Properties }) =>
        /^AWS::ApiGatewayV2::(Route|Integration)$/.test(Type) &&
        documented.some(({ id }) => (Properties.ApiId as { Ref: string }).Ref === id),
    );
    expect(beside).toEqual([]);
  });

  it('names stage variables by letters and digits (AWS::ApiGatewayV2::Stage: StageVariables)', () => {
    const names = resources('AWS::ApiGatewayV2::Stage').flatMap(({ Properties }) =>
      Object.keys((Properties.StageVariables ?? {}) as object),
    );
    expect(names.length).toBeGreaterThan(24);
    expect(names.filter((name) => !/^\w+$/.test(name))).toEqual([]);
  });
});
