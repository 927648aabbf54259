import { describe, expect, it } from 'vitest';
import { Permissions } from '#infra/local/aws/iam/iam.ts';
import { Stack } from '#infra/local/host/template.ts';

const home = { accountId: '000000000000', region: 'us-east-1', apiUrl: '' };
type Statement = Record<string, unknown>;

const permissions = (inline: Statement[], attached: Statement[] = []) =>
  new Permissions(
    new Stack(
      {
        Resources: {
          Table: { Type: 'AWS::DynamoDB::Table' },
          Role: {
            Type: 'AWS::IAM::Role',
            Properties: { Policies: [{ PolicyName: 'P', PolicyDocument: { Statement: inline } }] },
          },
          Policy: {
            Type: 'AWS::IAM::Policy',
            Properties: { PolicyDocument: { Statement: attached }, Roles: [{ Ref: 'Role' }] },
          },
        },
      },
      home,
    ),
  );

const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Table';
const may = (p: Permissions, action: string, resource: string, context?: Record<string, string>) => {
  try {
    p.check('arn:aws:iam::000000000000:role/Role', 'function Api', { action, resource, context });
    return true;
  } catch (error) {
    expect((error as Error).name).toBe('AccessDeniedException');
    return false;
  }
};

describe('permissions', () => {
  it('allow exactly what a statement allows', () => {
    const p = permissions([
      { Effect: 'Allow', Action: ['dynamodb:GetItem'], Resource: { 'Fn::GetAtt': ['Table', 'Arn'] } },
      { Effect: 'Allow', Action: 's3:PutObject', Resource: 'arn:aws:s3:::b/states/*' },
    ]);
    expect(may(p, 'dynamodb:GetItem', tableArn)).toBe(true);
    expect(may(p, 'dynamodb:getitem', tableArn)).toBe(true);
    expect(may(p, 'dynamodb:PutItem', tableArn)).toBe(false);
    expect(may(p, 'dynamodb:GetItem', `${tableArn}/index/due`)).toBe(false);
    expect(may(p, 's3:PutObject', 'arn:aws:s3:::b/states/a/b.tfstate')).toBe(true);
    expect(may(p, 's3:PutObject', 'arn:aws:s3:::b/runs/a')).toBe(false);
    expect(may(p, 's3:PutObject', 'arn:aws:s3:::bXstates/a')).toBe(false);
  });

  it('include attached policies, and a deny wins', () => {
    const p = permissions(
      [{ Effect: 'Deny', Action: 's3:*', Resource: 'arn:aws:s3:::b/secret*' }],
      [{ Effect: 'Allow', Action: 's3:Get*', Resource: '*' }],
    );
    expect(may(p, 's3:GetObject', 'arn:aws:s3:::b/open')).toBe(true);
    expect(may(p, 's3:GetObject', 'arn:aws:s3:::b/secret.txt')).toBe(false);
  });

  it('evaluate conditions against the request', () => {
    const p = permissions([
      {
        Effect: 'Allow',
        Action: 'ecs:RunTask',
        Resource: '*',
        Condition: { ArnEquals: { 'ecs:cluster': 'arn:cluster/a' }, StringEquals: { 'aws:x': ['1', '2'] } },
      },
    ]);
    expect(may(p, 'ecs:RunTask', 'arn:t', { 'ecs:cluster': 'arn:cluster/a', 'aws:x': '2' })).toBe(true);
    expect(may(p, 'ecs:RunTask', 'arn:t', { 'ecs:cluster': 'arn:cluster/b', 'aws:x': '2' })).toBe(false);
    expect(may(p, 'ecs:RunTask', 'arn:t', { 'ecs:cluster': 'arn:cluster/a' })).toBe(false);
  });

  it('restrict access by the leading key', () => {
    const Condition = { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'AUDIT#*' } };
    const p = permissions([
      { Effect: 'Allow', Action: 'dynamodb:*', Resource: '*' },
      { Effect: 'Deny', Action: 'dynamodb:DeleteItem', Resource: '*', Condition },
    ]);
    const mayDelete = (pk: string) => may(p, 'dynamodb:DeleteItem', tableArn, { 'dynamodb:LeadingKeys': pk });
    expect([mayDelete('AUDIT#acme#2030-01-01#0'), mayDelete('RUN#run-x')]).toEqual([false, true]);
  });

  it('name principal, action and resource in a denial', () => {
    expect(() =>
      permissions([]).check('Role', 'function Api', { action: 'dynamodb:GetItem', resource: tableArn }),
    ).toThrow(
      `function Api is not authorized to perform: dynamodb:GetItem on resource: ${tableArn} because no statement of its role allows it`,
    );
  });

  it('fail the start on an unsupported statement', () => {
    expect(() =>
      permissions([
        { Effect: 'Allow', Action: 'a:b', Resource: '*', Condition: { IpAddress: { 'aws:SourceIp': '1.2.3.4' } } },
      ]),
    ).toThrow(/Role: condition operator IpAddress/);
    expect(() => permissions([{ Effect: 'Allow', NotAction: 'a:b', Resource: '*' }])).toThrow(/Role: .*Action/);
  });
});
