// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub is written so
import { describe, expect, it } from 'vitest';
import { Stack, type Template } from '#infra/local/host/template.ts';

const home = { accountId: '000000000000', region: 'us-east-1', apiUrl: 'http://localhost:8080' };

const template: Template = {
  Parameters: { Stage: { Default: 'prod' }, Needed: {} },
  Conditions: {
    IsProd: { 'Fn::Equals': [{ Ref: 'Stage' }, 'prod'] },
    IsTest: { 'Fn::Not': [{ Condition: 'IsProd' }] },
  },
  Mappings: { Sizes: { prod: { memory: '512' } } },
  Resources: {
    Table: { Type: 'AWS::DynamoDB::Table' },
    Bucket: { Type: 'AWS::S3::Bucket' },
    Api: { Type: 'AWS::ApiGatewayV2::Api' },
    Machine: { Type: 'AWS::StepFunctions::StateMachine' },
    Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: { Broken: { 'Fn::GetAtt': ['Missing', 'Arn'] } } },
    Task: {
      Type: 'AWS::ECS::TaskDefinition',
      Properties: { Family: { 'Fn::Join': ['-', [{ Ref: 'AWS::StackName' }, 'runner']] } },
    },
    OnlyInTest: { Type: 'AWS::SQS::Queue', Condition: 'IsTest' },
    OnlyInProd: { Type: 'AWS::SQS::Queue', Condition: 'IsProd' },
  },
};
const stack = new Stack(template, home);

describe('a resolved template', () => {
  it.each([
    ['a reference', { Ref: 'Table' }, 'Table'],
    ['a bucket, in lower case', { Ref: 'Bucket' }, 'stepform-bucket'],
    ['a parameter', { Ref: 'Stage' }, 'prod'],
    ['an attribute', { 'Fn::GetAtt': ['Table', 'Arn'] }, 'arn:aws:dynamodb:us-east-1:000000000000:table/Table'],
    ['an attribute as text', { 'Fn::GetAtt': 'Machine.Name' }, 'Machine'],
    [
      'the family in a task definition',
      { Ref: 'Task' },
      'arn:aws:ecs:us-east-1:000000000000:task-definition/stepform-runner:1',
    ],
    ['Join', { 'Fn::Join': ['/', ['a', { Ref: 'AWS::Region' }]] }, 'a/us-east-1'],
    ['Select and Split', { 'Fn::Select': ['1', { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
    [
      'Sub',
      { 'Fn::Sub': 'x-${AWS::AccountId}-${Table.Arn}-${!Raw}' },
      'x-000000000000-arn:aws:dynamodb:us-east-1:000000000000:table/Table-${Raw}',
    ],
    ['Sub with variables', { 'Fn::Sub': ['${a}+${Stage}', { a: { Ref: 'Table' } }] }, 'Table+prod'],
    ['If', { 'Fn::If': ['IsProd', 'yes', 'no'] }, 'yes'],
    ['a negated condition', { 'Fn::If': ['IsTest', 'yes', 'no'] }, 'no'],
    ['a mapping', { 'Fn::FindInMap': ['Sizes', { Ref: 'Stage' }, 'memory'] }, '512'],
    ['nothing for NoValue', { a: 1, b: { Ref: 'AWS::NoValue' } }, { a: 1 }],
    ['the endpoint of the API', { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] }, 'http://localhost:8080'],
    [
      'the endpoint when it is spelled out',
      {
        'Fn::Join': [
          '',
          ['https://', { Ref: 'Api' }, '.execute-api.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }, '/v1'],
        ],
      },
      'http://localhost:8080/v1',
    ],
  ])('has %s', (_, expression, expected) => {
    expect(stack.resolve(expression)).toEqual(expected);
  });

  it('leaves out resources whose condition is false', () => {
    expect(stack.all('AWS::SQS::Queue').map(({ id }) => id)).toEqual(['OnlyInProd']);
  });

  it('defers values that only AWS can resolve', () => {
    expect(stack.one('AWS::DynamoDB::Table').ref).toBe('Table');
    expect(() => stack.one('AWS::CloudWatch::Alarm')).toThrow(
      'AWS::CloudWatch::Alarm Alarm: the template has no resource or parameter Missing',
    );
  });

  it('names an unresolvable value', () => {
    expect(() => stack.resolve({ 'Fn::GetAtt': ['Table', 'StreamArn'] })).toThrow(
      'AWS::DynamoDB::Table Table has no attribute StreamArn',
    );
    expect(() => stack.resolve({ 'Fn::ImportValue': 'x' })).toThrow('Fn::ImportValue');
    expect(() => stack.resolve({ Ref: 'Needed' })).toThrow('parameter Needed has no default');
    expect(() => stack.one('AWS::Lambda::Function')).toThrow('0 AWS::Lambda::Function');
  });
});
