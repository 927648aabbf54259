import { existsSync, readFileSync } from 'node:fs';
import { runSimulation, runUnsafeSimulation, type Simulation } from '@cloud-copilot/iam-simulate';
import type { Template } from '#infra/build/synth.ts';
import { type Access, Permissions } from '#infra/local/aws/iam/iam.ts';
import { Stack } from '#infra/local/host/template.ts';

/**
 * A foreign evaluator of IAM judges the calls that a platform recorded (infra/local/host/recorder.ts): for the caller's
 * role, and for the role of another function, which usually lacks the right (decisions/0231).
 */

interface Decision {
  /** ARN. */
  role: string;
  access: Access;
  isAllowed: boolean;
}

interface RoleProperties {
  Policies?: { PolicyName: string; PolicyDocument: object }[];
}
interface AttachedPolicy {
  PolicyDocument: object;
  Roles: string[];
}

const accountId = '000000000000';
const home = { accountId, region: 'us-east-1', apiUrl: 'http://localhost' };

/** Policies by ARN of the role, or of the key or bucket that has them. */
export const policiesOf = (stack: Stack) => {
  const attached = stack.all<AttachedPolicy>('AWS::IAM::Policy');
  const identity = stack.all<RoleProperties>('AWS::IAM::Role').map(({ arn, ref, properties }) => {
    const own = (properties.Policies ?? []).map(({ PolicyName: name, PolicyDocument: policy }) => ({ name, policy }));
    const others = attached.filter(({ properties: { Roles } }) => Roles.includes(ref));
    return [arn, [...own, ...others.map(({ id, properties }) => ({ name: id, policy: properties.PolicyDocument }))]];
  });
  const keys = stack.all<{ KeyPolicy: object }>('AWS::KMS::Key').map((key) => [key.arn, key.properties.KeyPolicy]);
  const buckets = stack
    .all<{ Bucket: string; PolicyDocument: object }>('AWS::S3::BucketPolicy')
    .map(({ properties: { Bucket, PolicyDocument } }) => [`arn:aws:s3:::${Bucket}`, PolicyDocument]);
  return {
    identity: new Map(identity as [string, Simulation['identityPolicies']][]),
    resource: new Map([...keys, ...buckets] as [string, object][]),
  };
};

type Policies = ReturnType<typeof policiesOf>;

/** Keys that IAM supplies with every call. */
const always = { 'aws:SecureTransport': 'true' };

/** @throws {Error} for a call that IAM does not know: its action, or this kind of resource for it */
const isAllowedElsewhere = async (policies: Policies, role: string, access: Access): Promise<boolean> => {
  const { action, resource, context } = access;
  const simulation: Simulation = {
    request: {
      principal: role,
      action,
      resource: { resource, accountId },
      contextVariables: { ...always, ...context },
    },
    identityPolicies: policies.identity.get(role) ?? [],
    resourcePolicy: policies.resource.get(action.startsWith('s3:') ? (resource.split('/')[0] ?? '') : resource),
    serviceControlPolicies: [],
    resourceControlPolicies: [],
  };
  // Without validation: the service authorization reference names no resource type, but Step Functions checks the machine
  // (infra/stack/grants.ts).
  if (action.startsWith('states:SendTask')) return runUnsafeSimulation(simulation, {}) === 'Allowed';
  const simulated = await runSimulation(simulation, {});
  if (simulated.resultType === 'error')
    throw new Error(`${action} on ${resource}: ${JSON.stringify(simulated.errors)}`);
  return simulated.overallResult === 'Allowed';
};

const ownVerdict = (permissions: Permissions, role: string, access: Access): boolean => {
  try {
    permissions.check(role, role, access);
    return true;
  } catch {
    return false;
  }
};

/**
 * @param file recorded decisions
 * @throws {Error} with every call on which the evaluators disagree
 */
export const checkDecisions = async (file: string, template: Template): Promise<void> => {
  if (!existsSync(file)) throw new Error(`${file}: no decision was recorded`);
  const decisions = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Decision);
  const stack = new Stack(template, home);
  const policies = policiesOf(stack);
  const permissions = new Permissions(stack);
  const roles = [...policies.identity.keys()];
  const different: string[] = [];
  let denied = 0;
  for (const [n, { role, access, isAllowed }] of decisions.entries()) {
    const other = roles[n % roles.length] as string;
    for (const [one, own] of [
      [role, isAllowed],
      [other, ownVerdict(permissions, other, access)],
    ] as const) {
      const elsewhere = await isAllowedElsewhere(policies, one, access);
      if (!elsewhere) denied++;
      if (elsewhere !== own)
        different.push(
          `${one}: ${JSON.stringify(access)} is ${own ? 'allowed here and denied' : 'denied here and allowed'} elsewhere`,
        );
    }
  }
  const actions = new Set(decisions.map(({ access }) => access.action));
  console.log(`IAM elsewhere: ${decisions.length} calls, ${actions.size} actions, ${denied} of twice as many denied`);
  if (different.length) throw new Error(`Two evaluators of IAM disagree:\n${different.join('\n')}`);
};
