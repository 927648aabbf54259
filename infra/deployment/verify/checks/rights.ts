import { DescribeTaskDefinitionCommand, ECSClient } from '@aws-sdk/client-ecs';
import { elements } from '#clients/cli/account-checks.ts';
import { query } from '#clients/cli/ask-aws.ts';
import { type Check, expect, ok, skipped } from '../check.ts';
import type { Platform } from '../platform.ts';
import type { Target } from '../target.ts';

/** Actions that no role of the platform has, by resource. */
const forbidden = ({ table, bucket, stateMachineArn, bootstrapFunction }: Target): [string, string[]][] => {
  const [, partition, , region, account] = stateMachineArn.split(':');
  const arn = (service: string, resource: string) => `arn:${partition}:${service}:${region}:${account}:${resource}`;
  return [
    [arn('dynamodb', `table/${table}`), ['dynamodb:DeleteTable', 'dynamodb:UpdateTable', 'dynamodb:Scan']],
    [`arn:${partition}:s3:::${bucket}`, ['s3:DeleteBucket', 's3:PutBucketPolicy', 's3:PutLifecycleConfiguration']],
    [stateMachineArn, ['states:UpdateStateMachine', 'states:DeleteStateMachine']],
    [arn('lambda', `function:${bootstrapFunction}`), ['lambda:UpdateFunctionCode', 'lambda:AddPermission']],
    ['*', ['iam:CreateRole', 'iam:PutRolePolicy', 'iam:AttachRolePolicy', 'sts:AssumeRole']],
    ['*', ['kms:ScheduleKeyDeletion', 'kms:PutKeyPolicy', 'ecs:RegisterTaskDefinition', 'cloudformation:UpdateStack']],
  ];
};

/** Customers' code runs with this role, so it has no rights at all. */
const forbiddenInRuns = ({ table, bucket, stateMachineArn, cluster }: Target): [string, string[]][] => {
  const [, partition, , region, account] = stateMachineArn.split(':');
  return [
    [`arn:${partition}:dynamodb:${region}:${account}:table/${table}`, ['dynamodb:GetItem', 'dynamodb:PutItem']],
    [`arn:${partition}:s3:::${bucket}/states/x`, ['s3:GetObject', 's3:PutObject']],
    [stateMachineArn, ['states:StartExecution', 'states:SendTaskSuccess']],
    [cluster, ['ecs:RunTask', 'ecs:StopTask']],
    [
      '*',
      ['kms:Decrypt', 'lambda:InvokeFunction', 'execute-api:ManageConnections', 'ssm:GetParameter', 'iam:PassRole'],
    ],
  ];
};

const simulate = async ({ target: { caller } }: Platform, role: string, [resource, actions]: [string, string[]]) => {
  const numbered = actions.map((action, n) => [`ActionNames.member.${n + 1}`, action]);
  const { ok: isOk, text } = await query('iam', caller, {
    Action: 'SimulatePrincipalPolicy',
    Version: '2010-05-08',
    PolicySourceArn: role,
    'ResourceArns.member.1': resource,
    ...Object.fromEntries(numbered),
  });
  const names = elements(text, 'EvalActionName');
  const decisions = elements(text, 'EvalDecision');
  const reason = elements(text, 'Message')[0] ?? text.slice(0, 100);
  if (!isOk || decisions.length < actions.length) return { reason };
  return { allowed: names.filter((_, n) => decisions[n] === 'allowed').map((name) => `${name} on ${resource}`) };
};

export const rights: Check = {
  name: 'denied rights',
  proves:
    'IAM denies the roles of functions what they never need, and the role of runs everything (SimulatePrincipalPolicy)',
  documented: 'every simulated action is denied',
  async perform(platform) {
    const { target } = platform;
    if (target.kind === 'local') return skipped('one machine has no IAM to simulate: its endpoint checks every call');
    const { taskDefinition } = await new ECSClient({}).send(
      new DescribeTaskDefinitionCommand({ taskDefinition: target.taskDefinition }),
    );
    const roleOfRuns = taskDefinition?.taskRoleArn ?? '';
    const [, partition, , , account] = target.stateMachineArn.split(':');
    const roles = target.stacks.flatMap(({ resources }) => resources.filter(({ type }) => type === 'AWS::IAM::Role'));
    const found: string[] = [];
    let simulated = 0;
    for (const { id, name } of roles) {
      const role = `arn:${partition}:iam::${account}:role/${name}`;
      for (const list of [...forbidden(target), ...(role === roleOfRuns ? forbiddenInRuns(target) : [])]) {
        const { allowed, reason } = await simulate(platform, role, list);
        if (!allowed) return skipped(`IAM does not simulate here: ${reason}`);
        simulated += list[1].length;
        found.push(...allowed.map((one) => `${id}: ${one}`));
      }
    }
    expect(
      roles.some(({ name }) => roleOfRuns.endsWith(`/${name}`)),
      `the role of runs, ${roleOfRuns}, is not of the stack`,
    );
    expect(!found.length, `allowed: ${found.join('; ')}`);
    return ok(`${simulated} actions of ${roles.length} roles are denied`, { simulated, roles: roles.length });
  },
};
