import { describe, expect, it } from 'vitest';
import { stackWith } from './stack-with.ts';

interface Statement {
  Effect: string;
  Action: string | string[];
  Principal: unknown;
  Resource: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

describe('with an alarm recipient', () => {
  const stacks = stackWith({ alarmEmail: 'ops@example.com' });
  const template = stacks.template();
  const [topic = ''] = Object.keys(template.findResources('AWS::SNS::Topic'));
  const ofThisAccount = { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } };

  it('allows CloudWatch to publish to the topic', () => {
    const [policy] = Object.values(template.findResources('AWS::SNS::TopicPolicy'));
    const statements = policy?.Properties.PolicyDocument.Statement as Statement[];
    expect(policy?.Properties.Topics).toEqual([{ Ref: topic }]);
    const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
    expect(allowed).toHaveLength(1);
    expect(allowed).toMatchObject([
      {
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: { Ref: topic },
        Condition: ofThisAccount,
      },
    ]);
    expect(statements.filter(({ Effect }) => Effect === 'Deny')).toMatchObject([
      { Action: 'sns:Publish', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  });

  it("allows CloudWatch to use the topic's key", () => {
    const statements = Object.values(stacks.dataTemplate().findResources('AWS::KMS::Key')).flatMap(
      ({ Properties }) => Properties.KeyPolicy.Statement as Statement[],
    );
    expect(
      statements.filter(({ Principal }) => JSON.stringify(Principal).includes('cloudwatch.amazonaws.com')),
    ).toMatchObject([{ Action: ['kms:Decrypt', 'kms:GenerateDataKey'], Condition: ofThisAccount }]);
  });

  it('sends from every alarm', () => {
    const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.length).toBeGreaterThan(4);
    for (const [id, { Properties }] of alarms) expect([id, Properties.AlarmActions]).toEqual([id, [{ Ref: topic }]]);
  });
});
