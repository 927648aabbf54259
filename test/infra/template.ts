import { synthesize, type Template } from '#infra/build/synth.ts';
import { readRoutes } from '#infra/local/host/routes.ts';
import { Stack } from '#infra/local/host/template.ts';

/** The synthesized templates merged into one, and helpers to read it. */

export type Resource = Template['Resources'][string] & { id: string; Properties: Record<string, unknown> };

export const { template, templates, bundles } = await synthesize();

export const resources = (type?: string): Resource[] =>
  Object.entries(template.Resources)
    .filter(([, resource]) => !type || resource.Type === type)
    .map(([id, resource]) => ({ ...resource, id, Properties: resource.Properties ?? {} }));

export const only = (type: string): Resource => {
  const [first, ...more] = resources(type);
  if (!first || more.length) throw new Error(`expected one ${type}, found ${more.length + (first ? 1 : 0)}`);
  return first;
};

/** Replaces logical ids with a hash suffix by readable names. */
const names: Record<string, string> = {};
const name = (type: string, called: string, fits: (resource: Resource) => boolean = () => true) => {
  for (const resource of resources(type).filter(fits)) names[resource.id] = called;
};
name('AWS::DynamoDB::Table', 'table');
name('AWS::S3::Bucket', 'bucket');
name('AWS::KMS::Key', 'key', ({ Properties }) => Properties.KeyUsage === undefined);
name('AWS::KMS::Key', 'identity-key', ({ Properties }) => Properties.KeyUsage === 'SIGN_VERIFY');
name('AWS::StepFunctions::StateMachine', 'machine');
name('AWS::ECS::Cluster', 'cluster');
name('AWS::SQS::Queue', 'lost-events');

/** One line for a value with references in it, e.g. `bucket/runs/*`. */
export const readable = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map(readable).join(',');
  const [kind, argument] = Object.entries(value)[0] as [string, unknown];
  switch (kind) {
    case 'Ref':
      return pseudo[argument as string] ?? names[argument as string] ?? (argument as string);
    case 'Fn::GetAtt': {
      const [id, attribute] = argument as [string, string];
      const called = names[id] ?? id;
      return attribute === 'Arn' ? called : `${called}.${attribute}`;
    }
    case 'Fn::Join': {
      const [delimiter, parts] = argument as [string, unknown[]];
      return parts.map(readable).join(delimiter);
    }
    case 'Fn::Sub':
      return String(argument).replaceAll(/\$\{([\w:]+)\}/g, (_, of: string) => pseudo[of] ?? names[of] ?? of);
    default:
      return JSON.stringify(value);
  }
};

const pseudo: Record<string, string> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'region',
  'AWS::AccountId': 'account',
  'AWS::StackName': 'stack',
};

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, Record<string, unknown>>;
}
interface Policy {
  PolicyDocument: { Statement: Statement[] };
  Roles?: { Ref: string }[];
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** Every statement of a role, inline and attached: one line per action and resource, sorted. */
export const permissionsOf = (roleId: string): string[] => {
  const role = resources('AWS::IAM::Role').find(({ id }) => id === roleId);
  if (!role) throw new Error(`${roleId} is not a role`);
  if (role.Properties.ManagedPolicyArns) throw new Error(`${roleId} has managed policies`);
  const own = (role.Properties.Policies ?? []) as Policy[];
  const attached = resources()
    .filter(({ Type }) => Type === 'AWS::IAM::Policy' || Type === 'AWS::IAM::RolePolicy')
    .map(({ Properties }) => Properties as unknown as Policy)
    .filter(({ Roles }) => Roles?.some(({ Ref }) => Ref === roleId));
  return [...own, ...attached]
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource, Condition }) =>
      list(Action).flatMap((action) =>
        list(Resource).map((resource) =>
          [Effect === 'Allow' ? '' : `${Effect} `, action, ' ', readable(resource), condition(Condition)].join(''),
        ),
      ),
    )
    .sort();
};

const condition = (of: Statement['Condition']): string =>
  Object.entries(of ?? {})
    .flatMap(([operator, keys]) =>
      Object.entries(keys).map(([key, value]) => ` if ${key} ${operator} ${readable(value)}`),
    )
    .join('');

/** The synthesized state machine, with readable function ARNs. */
export const synthesizedMachine = (): unknown => {
  const { DefinitionString } = only('AWS::StepFunctions::StateMachine').Properties as { DefinitionString: unknown };
  const text = readable(DefinitionString).replaceAll(
    /(?<=")(\w+Function)(?=")/g,
    'arn:aws:lambda:us-east-1:000000000000:function:$1',
  );
  return JSON.parse(text);
};

export const functionProperties = (functionId: string): Record<string, unknown> => {
  const declared = resources('AWS::Lambda::Function').find(({ id }) => id === `${functionId}Function`);
  if (!declared) throw new Error(`there is no function ${functionId}`);
  return declared.Properties;
};

export const roleOf = (functionId: string): string => {
  const { Role } = functionProperties(functionId) as { Role: { 'Fn::GetAtt': [string, string] } };
  return Role['Fn::GetAtt'][0];
};

export const environmentOf = (functionId: string): Record<string, unknown> =>
  (functionProperties(functionId) as { Environment?: { Variables: Record<string, unknown> } }).Environment?.Variables ??
  {};

const home = { accountId: 'account', region: 'region', apiUrl: 'http://localhost' };

/**
 * Route keys and logical ids of an HTTP API's functions, as the local platform reads them.
 * @param start of the API's logical id
 */
export const routesOf = (start: 'HttpApi' | 'EnvironmentApi'): Record<string, string> => {
  const stack = new Stack(template, home);
  const api = stack
    .all('AWS::ApiGatewayV2::Api')
    .find(({ id, properties }) => id.startsWith(start) && properties.Body !== undefined);
  if (!api) throw new Error(`there is no HTTP API ${start}`);
  return Object.fromEntries(
    readRoutes(stack, api).map(({ key, functionArn }) => [key, functionArn.split(':').at(-1) ?? '']),
  );
};
