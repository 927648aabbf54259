import { query } from '#clients/cli/ask-aws.ts';
import { mergeStacks } from '#infra/build/merge-stacks.ts';
import type { Template } from '#infra/build/synth.ts';
import { textOf } from '#infra/deployment/deployed-settings.ts';
import { Permissions } from '#infra/local/aws/iam/iam.ts';
import { nameResource } from '#infra/local/host/names.ts';
import { Stack } from '#infra/local/host/template.ts';
import type { Target } from './target.ts';

/** Rights of the deployed roles, as the deployed templates state them with the names of the deployed resources. */

/** Values of condition keys. */
export type Context = Record<string, string>;

/** Actions and resources to be combined: those of one service belong together. */
export interface Batch {
  actions: string[];
  resources: string[];
}

export interface DeployedRights {
  roles: { id: string; arn: string }[];
  batches: Batch[];
  /** None, then such that each value of a key in a condition is in one of them. */
  contexts: Context[];
  /** Condition keys with several values in one request. */
  listKeys: Set<string>;
  isConditional(batch: Batch): boolean;
  isAllowed(role: string, action: string, resource: string, context: Context): boolean;
}

type OneOrMore = string | string[];

interface Statement {
  Action: OneOrMore;
  Resource: OneOrMore;
  Condition?: Record<string, Record<string, OneOrMore>>;
}

interface Policy {
  PolicyDocument: { Statement: Statement | Statement[] };
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** What no role may do to what it may use, on any resource. */
const administration = [
  'dynamodb:DeleteTable',
  'dynamodb:Scan',
  'ecs:RegisterTaskDefinition',
  'iam:AttachRolePolicy',
  'iam:PutRolePolicy',
  'kms:PutKeyPolicy',
  'kms:ScheduleKeyDeletion',
  'lambda:AddPermission',
  'lambda:UpdateFunctionCode',
  's3:DeleteBucket',
  's3:DeleteObjectVersion',
  's3:PutBucketPolicy',
  's3:PutLifecycleConfiguration',
  'states:DeleteStateMachine',
  'states:UpdateStateMachine',
];

/** A request that the pattern matches. */
const example = (pattern: string): string => pattern.replaceAll('*', 'x');

const serviceOf = (action: string): string => action.split(':')[0] as string;

/**
 * Names of deployed resources: CloudFormation's physical id is a name, an ARN or a URL, by type (CloudFormation: return
 * values of each type).
 */
const deployedNames =
  ({ stacks }: Target): typeof nameResource =>
  (id, type, home, property) => {
    const name = stacks.flatMap(({ resources }) => resources).find((resource) => resource.id === id)?.name;
    if (name === undefined) throw new Error(`${id} is in the template, but not in the stack`);
    const arn = (service: string, resource: string, region = home.region, account = home.accountId) =>
      `arn:${home.partition}:${service}:${region}:${account}:${resource}`;
    const last = name.split(/[:/]/).at(-1) as string;
    const arns: Record<string, string> = {
      'AWS::DynamoDB::Table': arn('dynamodb', `table/${name}`),
      'AWS::ECS::Cluster': arn('ecs', `cluster/${name}`),
      'AWS::IAM::Role': arn('iam', `role/${name}`, ''),
      'AWS::KMS::Key': arn('kms', `key/${name}`),
      'AWS::Lambda::Function': arn('lambda', `function:${name}`),
      'AWS::Logs::LogGroup': arn('logs', `log-group:${name}:*`),
      'AWS::S3::Bucket': arn('s3', name, '', ''),
      'AWS::SQS::Queue': arn('sqs', last),
      'AWS::Backup::BackupVault': arn('backup', `backup-vault:${name}`),
    };
    const known = nameResource(id, type, home, property).attributes;
    const Arn = arns[type] ?? name;
    return { ref: name, attributes: { ...known, Arn, Name: last, BackupVaultArn: Arn } };
  };

/** @throws {Error} without permission to read it */
const readTemplate = async ({ caller }: Target, StackName: string): Promise<Template> => {
  const { ok, text } = await query('cloudformation', caller, {
    Action: 'GetTemplate',
    StackName,
    TemplateStage: 'Processed',
    Version: '2010-05-15',
  });
  if (!ok)
    throw new Error(`the template of ${StackName} cannot be read: ${textOf(text, 'Message') ?? text.slice(0, 100)}`);
  return JSON.parse(textOf(text, 'TemplateBody') ?? '') as Template;
};

/** IAM refuses requests with too many resources, without a documented maximum; 20 are known to work. */
const maxResources = 20;

interface Universe {
  actions: Set<string>;
  resources: Set<string>;
}

/**
 * Every action with every resource of its service, in few batches. Actions without resources have one of their own:
 * what `*` means beside resources is not documented.
 */
const batchesOf = (statements: Statement[]): Batch[] => {
  const services = new Map<string, Universe>();
  const without = new Set<string>();
  for (const { Action, Resource } of statements)
    for (const action of list(Action))
      for (const resource of list(Resource)) {
        if (resource === '*') {
          without.add(action);
          continue;
        }
        const service = serviceOf(action);
        const found = services.get(service) ?? { actions: new Set(), resources: new Set() };
        services.set(service, found);
        found.actions.add(action);
        found.resources.add(example(resource));
      }
  for (const action of administration) services.get(serviceOf(action))?.actions.add(action);
  const batches: Batch[] = without.size ? [{ actions: [...without], resources: ['*'] }] : [];
  let open: Batch | undefined;
  for (const { actions, resources } of [...services.values()].sort((a, b) => b.resources.size - a.resources.size)) {
    if (open && open.resources.length + resources.size <= maxResources) {
      open.actions.push(...actions);
      open.resources.push(...resources);
      continue;
    }
    const all = [...resources];
    for (let start = 0; start < all.length; start += maxResources) {
      open = { actions: [...actions], resources: all.slice(start, start + maxResources) };
      batches.push(open);
    }
  }
  return batches;
};

export const deployedRights = async (target: Target): Promise<DeployedRights> => {
  const templates: Template[] = [];
  // Exports of the data's stack are imported by the platform's.
  for (const { name } of target.stacks) templates.push(await readTemplate(target, name));
  const [, partition, , region = '', accountId = ''] = target.stateMachineArn.split(':');
  const home = { partition, region, accountId, stackName: target.stacks[0]?.name, apiUrl: target.apiUrl };
  const stack = new Stack(mergeStacks(...templates), home, deployedNames(target));
  const roles = stack.all<{ Policies?: Policy[] }>('AWS::IAM::Role');
  const policies = [
    ...roles.flatMap(({ properties: { Policies = [] } }) => Policies),
    ...stack.all<Policy>('AWS::IAM::Policy').map(({ properties }) => properties),
  ];
  const statements = policies.flatMap(({ PolicyDocument }) => list(PolicyDocument.Statement));
  const conditional = statements.filter(({ Condition }) => Condition);
  const conditions = conditional.flatMap(({ Condition = {} }) =>
    Object.entries(Condition).flatMap(([operator, keys]) =>
      Object.entries(keys).map(([key, values]) => ({ operator, key, values: list(values).map(example) })),
    ),
  );
  const values = new Map<string, Set<string>>();
  for (const condition of conditions)
    values.set(condition.key, new Set([...(values.get(condition.key) ?? []), ...condition.values]));
  const number = Math.max(0, ...[...values.values()].map(({ size }) => size));
  const contextOf = (n: number): Context =>
    Object.fromEntries([...values].map(([key, all]) => [key, [...all][n % all.size] as string]));
  const permissions = new Permissions(stack);
  const services = new Set(conditional.flatMap(({ Action }) => list(Action).map(serviceOf)));
  return {
    roles: roles.map(({ id, arn }) => ({ id, arn })),
    batches: batchesOf(statements),
    contexts: [{}, ...Array.from({ length: number }, (_, n) => contextOf(n))],
    listKeys: new Set(conditions.filter(({ operator }) => operator.startsWith('For')).map(({ key }) => key)),
    isConditional: ({ actions }) => actions.some((action) => services.has(serviceOf(action))),
    isAllowed: (role, action, resource, context) => permissions.allows(role, { action, resource, context }),
  };
};
