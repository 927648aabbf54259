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

  it('needs no key of the platform, which alarms must outlive', () => {
    expect(template.findResources('AWS::SNS::Topic')[topic]?.Properties ?? {}).not.toHaveProperty('KmsMasterKeyId');
    expect(JSON.stringify(stacks.dataTemplate().findResources('AWS::KMS::Key'))).not.toContain('cloudwatch');
  });

  it('tells what to do about an unusable key, which the sweep notices first', () => {
    const [alarm] = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).filter(([id]) =>
      id.startsWith('OperationsSweepFailed'),
    );
    const { AlarmDescription } = alarm?.[1].Properties ?? {};
    for (const words of ['KMS key access denied', 'cancel-key-deletion', 'enable-key', 'seven days'])
      expect(JSON.stringify(AlarmDescription)).toContain(words);
  });

  it('sends from every alarm', () => {
    const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.length).toBeGreaterThan(4);
    for (const [id, { Properties }] of alarms) expect([id, Properties.AlarmActions]).toEqual([id, [{ Ref: topic }]]);
  });
});
