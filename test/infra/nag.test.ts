import * as iam from 'aws-cdk-lib/aws-iam';
import { type Stack, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { stackWith } from './stack-with.ts';

const stacks = (context: Record<string, unknown> = {}): Stack[] => {
  const { data, stack } = stackWith(context);
  return data ? [data, stack] : [stack];
};

const findings = (stack: Stack, { ignoreAcknowledgments = false } = {}): string[] => {
  const checks = new AwsSolutionsChecks(stack);
  if (ignoreAcknowledgments) Object.assign(checks, { isAcknowledged: () => false });
  const { violations } = checks.validateScope(stack);
  return violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => `${ruleName} ${constructPath}`),
  );
};

/** Every accepted finding with its reason. */
const acknowledged = (stack: Stack): { rule: string; path: string; reason: string }[] =>
  stack.node.findAll().flatMap(({ node }) =>
    node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .flatMap(({ data }) =>
        Object.entries(data as Record<string, string>).map(([id, reason]) => ({
          rule: id.replace(/^annotation::/i, ''),
          path: node.path,
          reason,
        })),
      )
      .filter(({ rule }) => rule.startsWith('AwsSolutions-')),
  );

describe('cdk-nag, AwsSolutions', () => {
  it.each([
    ['default settings', {}],
    [
      'an own network, alarms by mail, nothing kept, copies in another region',
      {
        ...{ vpcId: 'vpc-1', subnetIds: 'subnet-1,subnet-2', alarmEmail: 'ops@example.com', removalPolicy: 'destroy' },
        backupVaultArn: 'arn:aws:backup:eu-west-1:123456789012:backup-vault:stepform',
        replicaBucketArn: 'arn:aws:s3:::elsewhere',
        replicaKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/mrk-1',
      },
    ],
  ])('has no unacknowledged finding: %s', (_, context) => {
    expect(stacks(context).flatMap((stack) => findings(stack))).toEqual([]);
  });

  it('reports a known violation', () => {
    const { stack } = stackWith({});
    new iam.Role(stack, 'Careless', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        All: new iam.PolicyDocument({
          statements: [new iam.PolicyStatement({ actions: ['s3:*'], resources: ['*'] })],
        }),
      },
    });
    expect(findings(stack)).toEqual([
      'AwsSolutions-IAM5[Action::s3:*] Stepform/Careless/Resource',
      'AwsSolutions-IAM5[Resource::*] Stepform/Careless/Resource',
    ]);
  });

  it('requires a reason for each acknowledgement, and rejects unused ones', () => {
    const all = stacks();
    const unacknowledged = all.flatMap((stack) => findings(stack, { ignoreAcknowledgments: true }));
    const accepted = all.flatMap(acknowledged);
    expect(accepted.length).toBeGreaterThan(10);
    for (const { rule, path, reason } of accepted) {
      expect(reason.length, `${rule} at ${path}: ${reason}`).toBeGreaterThan(25);
      expect(
        unacknowledged.some((finding) => finding.startsWith(`${rule} ${path}`)),
        `${rule} at ${path} is accepted, but nothing is found there`,
      ).toBe(true);
    }
    const byRule = Map.groupBy(accepted, ({ rule }) => rule.replace(/\[.*/, ''));
    console.log([...byRule].map(([rule, all]) => `${rule}: ${all.length} accepted`).join('\n'));
  });
});
