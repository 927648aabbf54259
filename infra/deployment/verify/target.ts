import { AwsClient } from 'aws4fetch';
import { ask, type Caller, endpointOf, query } from '#clients/cli/ask-aws.ts';
import { CommandError, wrongUsage } from '#clients/cli/exit.ts';
import { findLocalPlatform } from '#clients/cli/local-platform.ts';
import { configuration } from '#clients/cli/preflight.ts';
import { textOf } from '#infra/deployment/deployed-settings.ts';
import type { Local } from '#infra/local/host/folder.ts';
import { settingsOutput } from '#infra/settings/settings.ts';

/** The deployment under test: addresses of its API, and names of its resources for calls to AWS. */

interface StackResource {
  /** Logical id. */
  id: string;
  type: string;
  /** Physical id: a name, an ARN or a URL. */
  name: string;
}

/** CloudFormation's view of a stack. */
export interface Stack {
  name: string;
  status: string;
  outputs: Record<string, string>;
  resources: StackResource[];
}

export interface Target {
  kind: 'aws' | 'emulator' | 'local';
  /** For people: stack, account and region, or the folder. */
  title: string;
  /** For the calls of ask-aws.ts; the SDK's clients find the same in the environment. */
  caller: Caller;
  /** The platform's and its data's; none on one machine. */
  stacks: Stack[];
  apiUrl: string;
  environmentsUrl: string;
  stateMachineArn: string;
  bootstrapFunction: string;
  cluster: string;
  taskDefinition?: string;
  table: string;
  bucket: string;
  /** As its operator set them. */
  settings: Record<string, unknown>;
}

/** The parts of a list, each with its nested lists. */
const members = (xml: string): string[] => xml.split('<member>').slice(1);

const version = '2010-05-15';

/** Undefined if there is no such stack. @throws {CommandError} */
const readStack = async (caller: Caller, name: string): Promise<Stack | undefined> => {
  const { ok, text } = await query('cloudformation', caller, {
    Action: 'DescribeStacks',
    StackName: name,
    Version: version,
  });
  if (!ok) {
    const reason = textOf(text, 'Message') ?? text.slice(0, 200);
    if (reason.includes('does not exist')) return undefined;
    throw new CommandError(`Stack ${name} in ${caller.region} cannot be read: ${reason}`);
  }
  const outputs = members(text).flatMap((one) => {
    const key = textOf(one, 'OutputKey');
    return key === undefined ? [] : [[key, textOf(one, 'OutputValue') ?? '']];
  });
  const status = textOf(text, 'StackStatus') ?? '';
  return { name, status, outputs: Object.fromEntries(outputs), resources: await resourcesOf(caller, name) };
};

const resourcesOf = async (caller: Caller, name: string): Promise<StackResource[]> => {
  const resources: StackResource[] = [];
  for (let token: string | undefined, first = true; first || token; first = false) {
    const { text } = await query('cloudformation', caller, {
      Action: 'ListStackResources',
      StackName: name,
      Version: version,
      ...(token ? { NextToken: token } : {}),
    });
    for (const one of members(text)) {
      const read = (name: string): string => textOf(one, name) ?? '';
      resources.push({ id: read('LogicalResourceId'), type: read('ResourceType'), name: read('PhysicalResourceId') });
    }
    token = textOf(text, 'NextToken');
  }
  return resources;
};

interface FunctionConfiguration {
  Environment?: { Variables?: Record<string, string> };
}

/** The names with which the deployed functions work, also after a restored table replaced the stack's. */
const variablesOf = async (caller: Caller, name: string): Promise<Record<string, string>> => {
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/configuration`;
  const { ok, text } = await ask('lambda', caller, { method: 'GET', path });
  if (!ok) throw new CommandError(`Function ${name} cannot be read: ${text.slice(0, 200)}`);
  return (JSON.parse(text) as FunctionConfiguration).Environment?.Variables ?? {};
};

/** @throws {CommandError} if it cannot be found or read */
const deployedTarget = async (stackName: string): Promise<Target> => {
  const { region, credentials } = await configuration();
  if (!region) throw wrongUsage('Region: not set. Set AWS_REGION, or a region in your AWS profile.');
  if (!credentials) throw wrongUsage('Credentials: not found. Set AWS_PROFILE, or sign in, e.g. aws sso login.');
  const caller = { region, credentials };
  const platform = await readStack(caller, stackName);
  if (!platform)
    throw wrongUsage(
      `There is no stack ${stackName} in ${region}. Give --stack NAME, set AWS_REGION, or use --local for the platform on this machine.`,
    );
  const data = await readStack(caller, `${stackName}-Data`);
  const sweep = platform.resources.find(({ id, type }) => type === 'AWS::Lambda::Function' && /^Sweep/.test(id));
  if (!sweep) throw new CommandError(`Stack ${stackName} is not a stepform platform, or its deployment failed.`);
  const variables = await variablesOf(caller, sweep.name);
  const named = (name: string): string => {
    const value = variables[name] ?? platform.outputs[name];
    if (!value) throw new CommandError(`Stack ${stackName} does not have ${name}. Deploy this version first.`);
    return value;
  };
  const stateMachineArn = named('STATE_MACHINE_ARN');
  const kind = process.env.AWS_ENDPOINT_URL ? 'emulator' : 'aws';
  return {
    kind,
    title: `stack ${stackName}, account ${stateMachineArn.split(':')[4]}, ${region}${kind === 'aws' ? '' : ' (emulator)'}`,
    caller,
    stacks: data ? [platform, data] : [platform],
    apiUrl: named('ApiUrl').replace(/\/$/, ''),
    environmentsUrl: named('EnvironmentsUrl').replace(/\/$/, ''),
    stateMachineArn,
    bootstrapFunction: named('BootstrapFunctionName'),
    cluster: named('CLUSTER_ARN'),
    taskDefinition: named('TASK_DEFINITION_ARN'),
    table: named('TABLE_NAME'),
    bucket: named('BUCKET_NAME'),
    settings: JSON.parse(platform.outputs[settingsOutput] ?? '{}'),
  };
};

/** The platform on this machine serves the same AWS calls; this process uses its operator's credentials from now on. */
const localTarget = (): Target => {
  const local = findLocalPlatform() as (Local & { path: string }) | undefined;
  if (!local) throw wrongUsage('No platform found on this machine. Start it, or set STEPFORM_DATA to its data folder.');
  const { accessKeyId, secretAccessKey } = local.awsCredentials;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: local.awsEndpointUrl,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  });
  delete process.env.AWS_SESSION_TOKEN;
  delete process.env.AWS_PROFILE;
  return {
    kind: 'local',
    title: `platform on this machine, ${local.path}`,
    caller: { region: 'us-east-1', credentials: local.awsCredentials },
    stacks: [],
    apiUrl: local.url,
    environmentsUrl: local.environmentsUrl,
    stateMachineArn: local.stateMachineArn,
    bootstrapFunction: 'BootstrapFunction',
    cluster: 'stepform',
    table: local.tableName,
    bucket: local.bucketName,
    settings: {},
  };
};

/** @throws {CommandError} */
export const findTarget = async ({ local, stack }: { local: boolean; stack: string }): Promise<Target> => {
  if (local) return localTarget();
  return deployedTarget(stack).catch((error: Error) => {
    if (error instanceof CommandError) throw error;
    const { message } = error.cause instanceof Error ? error.cause : error;
    throw new CommandError(`AWS cannot be reached: ${message}. Check the region’s name and your network.`);
  });
};

/** Invokes a function and returns its result. @throws {Error} the function's error */
export const invoke = async <T>({ caller }: Target, name: string, event: object): Promise<T> => {
  const path = `/2015-03-31/functions/${encodeURIComponent(name)}/invocations`;
  const { ok, text } = await ask('lambda', caller, { path, body: JSON.stringify(event) });
  const result = JSON.parse(text) as T & { errorMessage?: string; Message?: string };
  if (!ok || result.errorMessage !== undefined)
    throw new Error(`${name}: ${result.errorMessage ?? result.Message ?? text.slice(0, 200)}`);
  return result;
};

/** A presigned request to an object of the platform's bucket. @param key may have a query @param headers signed and sent */
export const presignedRequest = async (
  { caller, bucket }: Target,
  method: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<Request> => {
  const { AWS_ENDPOINT_URL: endpoint } = process.env;
  const base = endpoint ? `${endpoint}/${bucket}` : `https://${bucket}.${endpointOf('s3', caller.region).host}`;
  const client = new AwsClient({ ...caller.credentials, service: 's3', region: caller.region });
  return client.sign(`${base}/${key}${key.includes('?') ? '&' : '?'}X-Amz-Expires=300`, {
    method,
    headers,
    aws: { signQuery: true, allHeaders: true },
  });
};
