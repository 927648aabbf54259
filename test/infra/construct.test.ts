import { Template } from 'aws-cdk-lib/assertions';
import * as acm from 'aws-cdk-lib/aws-certificatemanager';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as route53 from 'aws-cdk-lib/aws-route53';
import * as s3 from 'aws-cdk-lib/aws-s3';
import * as sns from 'aws-cdk-lib/aws-sns';
import { App, CfnOutput, NestedStack, Stack, Tags } from 'aws-cdk-lib/core';
import { AssetManifestArtifact } from 'aws-cdk-lib/cx-api';
import { describe, expect, it } from 'vitest';
import { baseImages, referenceOf } from '#infra/build/base-images.ts';
import { Stepform, type StepformProps } from '#infra/stack/stepform.ts';
import { quick } from './stack-with.ts';
import { template as own } from './template.ts';

/** The construct in another app: without the flags of ours, which `cdk init` does not set. */
const app = (context: Record<string, unknown> = {}) => new App({ ...quick, context: { ...quick.context, ...context } });

interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
  Properties?: any;
}
const known = new WeakMap<Stack, Record<string, Resource>>();
/** Call when the stack is complete. */
const resourcesOf = (stack: Stack) => {
  const resources = known.get(stack) ?? (Template.fromStack(stack).toJSON().Resources as Record<string, Resource>);
  known.set(stack, resources);
  return resources;
};
const ofType = (stack: Stack, type: string) => Object.values(resourcesOf(stack)).filter(({ Type }) => Type === type);
const countsOf = (resources: Record<string, { Type: string }>) =>
  Object.fromEntries(
    [...Map.groupBy(Object.values(resources), ({ Type }) => Type)].map(([type, all]) => [type, all.length]).sort(),
  );

const inStack = (props: (stack: Stack) => StepformProps) => {
  const stack = new Stack(app(), 'Company');
  return { stack, stepform: new Stepform(stack, 'Stepform', props(stack)) };
};

/** Properties that name another resource, or something inside of one. */
const names = [
  'AWS::Logs::MetricFilter LogGroupName',
  'AWS::EC2::VPCEndpoint ServiceName',
  'AWS::CloudWatch::Alarm MetricName',
];

/** Values of properties that are names in an account: two resources of a type cannot share them. */
const namesIn = (resources: Resource[]): string[] =>
  resources.flatMap(({ Type, Properties = {} }) => {
    const transformations: { MetricNamespace: unknown; MetricName: string }[] = Properties.MetricTransformations ?? [];
    const named = Object.entries(Properties)
      .filter(([key]) => /(^Family|Name)$/.test(key) && key !== 'StageName' && !names.includes(`${Type} ${key}`))
      .map(([key, value]) => `${Type} ${key} ${JSON.stringify(value)}`);
    return [
      ...named,
      ...transformations.map((one) => `metric ${JSON.stringify(one.MetricNamespace)} ${one.MetricName}`),
      ...(Properties.Body ? [`API ${JSON.stringify(Properties.Body.info.title)}`] : []),
    ];
  });

describe('the construct', () => {
  it('twice in a stack creates everything twice, under different names', () => {
    const stack = new Stack(app(), 'Company');
    const first = new Stepform(stack, 'First');
    new Stepform(stack, 'Second');
    const all = Object.entries(resourcesOf(stack));
    const [a, b] = ['First', 'Second'].map((id) => all.filter(([logicalId]) => logicalId.startsWith(id)));
    expect(a?.length).toBe(Object.keys(own.Resources).length);
    expect(b?.length).toBe(a?.length);
    const found = [a, b].map((part = []) => new Set(namesIn(part.map(([, resource]) => resource))));
    expect(found[0]?.size).toBeGreaterThanOrEqual(9);
    expect([...(found[0] ?? [])].filter((name) => found[1]?.has(name))).toEqual([]);
    expect(JSON.stringify(stack.resolve(first.url))).toContain('FirstHttpApi');
  });

  it("has the resources of our own stacks, regardless of the app's flags", () => {
    const flags = {
      '@aws-cdk/aws-ec2:restrictDefaultSecurityGroup': true,
      '@aws-cdk/aws-lambda:createNewPoliciesWithAddToRolePolicy': true,
      '@aws-cdk/aws-iam:minimizePolicies': false,
    };
    const stack = new Stack(app(flags), 'Company');
    new Stepform(stack, 'Stepform', { runnerImage: 'build' });
    expect(countsOf(resourcesOf(stack))).toEqual(countsOf(own.Resources));
  });

  it('fits into a nested stack', () => {
    const company = new Stack(app(), 'Company');
    const topic = new sns.Topic(company, 'Alarms');
    const [tools, others] = ['Tools', 'Others'].map((id) => new NestedStack(company, id)) as [NestedStack, NestedStack];
    const { stateMachine } = new Stepform(tools, 'Stepform');
    new Stepform(others, 'Stepform', { alarmTopic: topic });
    new CfnOutput(company, 'Machine', { value: stateMachine.stateMachineArn });
    expect(Object.keys(resourcesOf(tools)).length).toBe(Object.keys(own.Resources).length);
    // References of the outer stack to the nested one, and back.
    expect(JSON.stringify(Template.fromStack(company).toJSON().Outputs)).toMatch(/"Outputs\.\w*LifecycleRuns/);
    const alarms = ofType(others, 'AWS::CloudWatch::Alarm').filter(({ Properties }) => Properties.AlarmActions);
    expect(alarms.length).toBe(countsOf(own.Resources)['AWS::CloudWatch::Alarm']);
    expect(countsOf(resourcesOf(company))).toEqual({ 'AWS::CloudFormation::Stack': 2, 'AWS::SNS::Topic': 1 });
  });
});

describe('without props', () => {
  const { stack } = inStack(() => ({}));
  const boundary = iam.ManagedPolicy.fromManagedPolicyName(stack, 'Boundary', 'company-boundary');
  iam.PermissionsBoundary.of(stack).apply(boundary);
  Tags.of(stack).add('team', 'platform');

  it('needs no Docker', () => {
    const [definition] = ofType(stack, 'AWS::ECS::TaskDefinition');
    expect(definition?.Properties.ContainerDefinitions[0].Image).toBe(referenceOf(baseImages().node));
    const [assets] = (stack.node.root as App).synth().artifacts.filter(AssetManifestArtifact.isAssetManifestArtifact);
    expect(assets?.contents.dockerImages ?? {}).toEqual({});
  });

  it('gets the permissions boundary of an aspect on every role', () => {
    const roles = ofType(stack, 'AWS::IAM::Role');
    expect(roles.length).toBeGreaterThan(50);
    for (const { Properties } of roles)
      expect(JSON.stringify(Properties.PermissionsBoundary)).toContain('company-boundary');
  });

  it('gets the tags of an aspect on everything; an API with a document has them there (aws-cdk #28552)', () => {
    const apis = ofType(stack, 'AWS::ApiGatewayV2::Api');
    const documented = apis.filter(({ Properties }) => Properties.Body);
    expect(documented).toHaveLength(2);
    for (const { Properties } of documented) {
      expect(Object.keys(Properties)).toEqual(['Body']);
      expect(Properties.Body.tags).toEqual([{ name: 'team', 'x-amazon-apigateway-tag-value': 'platform' }]);
    }
    const types = ['DynamoDB::Table', 'S3::Bucket', 'KMS::Key', 'Lambda::Function', 'IAM::Role', 'ECS::Cluster'];
    for (const type of types)
      for (const { Properties } of ofType(stack, `AWS::${type}`))
        expect(Properties.Tags, type).toContainEqual({ Key: 'team', Value: 'platform' });
  });
});

describe('props', () => {
  it('are the settings, and the key that table and bucket are encrypted with', () => {
    const settings = { auditRetentionDays: 7, runnerCpu: 2048, requestsPerSecond: 60 };
    const { stack } = inStack((stack) => ({ ...settings, key: new kms.Key(stack, 'Own') }));
    const [table] = ofType(stack, 'AWS::DynamoDB::Table');
    expect(JSON.stringify(table?.Properties.SSESpecification)).toMatch(/"Own/);
    expect(ofType(stack, 'AWS::ECS::TaskDefinition')[0]?.Properties.Cpu).toBe('2048');
    const variables = ofType(stack, 'AWS::Lambda::Function').map(({ Properties }) => Properties.Environment?.Variables);
    expect(variables.some((one) => one?.AUDIT_RETENTION_DAYS === '7')).toBe(true);
  });

  it('can be constructs of the app', () => {
    const { stack } = inStack((stack) => {
      const hostedZone = new route53.PublicHostedZone(stack, 'Zone', { zoneName: 'example.com' });
      const certificate = new acm.Certificate(stack, 'Certificate', { domainName: '*.example.com' });
      return {
        domain: { name: 'terraform.example.com', environmentsName: 'dev.example.com', certificate, hostedZone },
        vpc: new ec2.Vpc(stack, 'Network', { natGateways: 1 }),
        alarmTopic: new sns.Topic(stack, 'Alarms'),
        alarmEmail: 'ops@example.com',
      };
    });
    const domains = ofType(stack, 'AWS::ApiGatewayV2::DomainName');
    expect(domains.map(({ Properties }) => Properties.DomainName)).toEqual([
      'terraform.example.com',
      'dev.example.com',
    ]);
    for (const { Properties } of domains)
      expect(JSON.stringify(Properties.DomainNameConfigurations)).toMatch(/"Ref":"Certificate/);
    const records = ofType(stack, 'AWS::Route53::RecordSet');
    expect(records.map(({ Properties }) => JSON.stringify(Properties.HostedZoneId)).join()).toMatch(/"Ref":"Zone/);
    expect(ofType(stack, 'AWS::EC2::VPC')).toHaveLength(1);
    const launcher = resourcesOf(stack);
    const [, plan] = Object.entries(launcher).find(([id]) => /PlanQueuedFunction/.test(id)) ?? [];
    expect(JSON.stringify(plan?.Properties.Environment.Variables.SUBNETS)).toMatch(/NetworkPrivateSubnet1/);
    for (const { Properties } of ofType(stack, 'AWS::CloudWatch::Alarm'))
      expect(Properties.AlarmActions).toHaveLength(2);
  });

  it('can be the data of an earlier deployment', () => {
    const { stack, stepform } = inStack((stack) => ({
      table: dynamodb.Table.fromTableName(stack, 'Table', 'kept-table'),
      bucket: s3.Bucket.fromBucketName(stack, 'Bucket', 'kept-bucket'),
      key: kms.Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-central-1:123456789012:key/mrk-1'),
    }));
    const types = countsOf(resourcesOf(stack));
    expect([types['AWS::DynamoDB::Table'], types['AWS::S3::Bucket']]).toEqual([undefined, undefined]);
    // The key for workload identity.
    expect(types['AWS::KMS::Key']).toBe(1);
    expect(stepform.table.tableName).toBe('kept-table');
    const text = JSON.stringify(resourcesOf(stack));
    for (const name of ['kept-table', 'kept-bucket', 'mrk-1']) expect(text).toContain(name);
  });

  const refused: [string, (stack: Stack) => StepformProps, string][] = [
    ['a wrong value', () => ({ auditRetentionDays: -1 }), 'auditRetentionDays: must be at least 1 (it is -1)'],
    ['an unknown name', () => ({ retentionDays: 1 }) as StepformProps, 'retentionDays: unknown setting'],
    [
      'a table without its key',
      (stack) => ({ table: dynamodb.Table.fromTableName(stack, 'T', 't') }),
      'table, bucket: need key, which encrypts them',
    ],
    [
      'a setting of a given key',
      (stack) => ({ key: new kms.Key(stack, 'K'), keyRotationDays: 365 }),
      'keyRotationDays: is a property of key',
    ],
    [
      'lifecycle rules of a given bucket',
      (stack) => ({ key: new kms.Key(stack, 'K'), bucket: new s3.Bucket(stack, 'B'), runRetentionDays: 365 }),
      'configurationRetentionDays, runRetentionDays: are lifecycle rules of bucket',
    ],
    ['subnets of no network', () => ({ vpcSubnets: { onePerAz: true } }), 'vpcSubnets: needs vpc'],
    [
      'a wrong host name',
      (stack) => ({
        domain: { name: 'Terraform', certificate: new acm.Certificate(stack, 'C', { domainName: 'x.example.com' }) },
      }),
      'domainName: must be a host name in lower case',
    ],
  ];
  it.each(refused)('are refused by name: %s', (_, props, problem) => {
    expect(() => inStack(props)).toThrow(`Props of Stepform:\n  ${problem}`);
  });
});
