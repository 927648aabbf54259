import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DynamoDb, type TableProperties } from '#infra/local/aws/dynamodb/dynamodb.ts';
import { Ecs } from '#infra/local/aws/ecs/ecs.ts';
import type { TaskDefinition } from '#infra/local/aws/ecs/ecs-task.ts';
import { Events } from '#infra/local/aws/events/events.ts';
import { Accesses } from '#infra/local/aws/iam/access.ts';
import { Permissions } from '#infra/local/aws/iam/iam.ts';
import { Kms } from '#infra/local/aws/kms/kms.ts';
import { type FunctionSettings, unset } from '#infra/local/aws/lambda/function-settings.ts';
import { checkMachine, checkRoute, Invokers } from '#infra/local/aws/lambda/invokers.ts';
import { type FunctionProperties, Lambda } from '#infra/local/aws/lambda/lambda.ts';
import type { Usage } from '#infra/local/aws/lambda/usage.ts';
import type { Logs } from '#infra/local/aws/logs/logs.ts';
import { type ObjectCreated, S3 } from '#infra/local/aws/s3/s3.ts';
import { Mail } from '#infra/local/aws/ses/mail.ts';
import { keptSecret } from '#infra/local/aws/ssm/secrets.ts';
import { withRunTaskSeconds } from '#infra/local/aws/step-functions/run-task-limits.ts';
import { StepFunctionsService } from '#infra/local/aws/step-functions/service.ts';
import { Callers } from '#infra/local/host/callers.ts';
import { Cors } from '#infra/local/host/cors.ts';
import { Database } from '#infra/local/host/database.ts';
import type { Endpoint } from '#infra/local/host/endpoint.ts';
import { StartError } from '#infra/local/host/errors.ts';
import type { Faults } from '#infra/local/host/faults.ts';
import type { Folder } from '#infra/local/host/folder.ts';
import type { Home } from '#infra/local/host/home.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { portsFile } from '#infra/local/host/moved-ports.ts';
import { decisionRecorder } from '#infra/local/host/recorder.ts';
import { type DeclaredRoute, invokedBy, readRoutes } from '#infra/local/host/routes.ts';
import type { Resource, Stack, Template } from '#infra/local/host/template.ts';
import type { WarmRunners } from '#run/warm-runners.ts';

/** A deployable application: a template, and the code of its functions and containers. */
export interface Application {
  template: Template;
  /** Bundle of a function by logical id; undefined for functions that only AWS needs. */
  bundleOf(logicalId: string): string | undefined;
  /** Folder for V8's compiled code of the bundles; without it each start compiles them. */
  compiled?: string;
  /** The module of the runner program that runs a task. */
  runner: string;
}

export interface Site {
  application: Application;
  awsEndpointUrl: string;
  endpoint: Endpoint;
  faults: Faults;
  folder: Folder;
  home: Home;
  log(line: string): void;
  logs: Logs;
  functionSettings: FunctionSettings;
  /** URL of the mail server; without one, e-mails become files in the data folder. */
  smtp: string;
  runnerEnvironment: Record<string, string>;
  stack: Stack;
  usage: Usage;
}

/** The application's resources, each with its local counterpart. */
export interface Parts {
  accesses: Accesses;
  api: Resource;
  /** The environments' API and the function behind their WebSocket API; absent in an application without them. */
  environments?: { api: Resource; routes: DeclaredRoute[]; connectArn: string };
  callers: Callers;
  cors: Cors;
  database: Database;
  dynamodb: DynamoDb;
  ecs: Ecs;
  events: Events;
  kms: Kms;
  lambda: Lambda;
  mail: Mail;
  machine: Resource<MachineProperties>;
  routes: DeclaredRoute[];
  s3: S3;
  states: StepFunctionsService;
}

interface BucketProperties {
  NotificationConfiguration?: { EventBridgeConfiguration?: { EventBridgeEnabled?: boolean } };
}
interface MachineProperties {
  RoleArn: string;
  DefinitionString?: string;
  Definition?: object;
}

/**
 * Builds the resources of the template. Nothing runs yet: executions, tasks and schedules wait for their `resume` or
 * `start`.
 * @throws StartError, before anything is opened, for a template that could not work here or on AWS
 */
export const assemble = async (site: Site): Promise<Parts> => {
  const { application, awsEndpointUrl, faults, folder, home, log, logs, stack, usage } = site;
  const permissions = new Permissions(stack, decisionRecorder(process.env.STEPFORM_RECORD_DECISIONS));
  const functions = stack
    .all<FunctionProperties>('AWS::Lambda::Function')
    .filter(({ id }) => application.bundleOf(id) !== undefined)
    .map((resource) => onThisMachine(resource, site));
  const callers = new Callers(keptSecret(folder.at('credentials.key')), functions, permissions);
  const lambda = new Lambda({
    functions,
    bundleOf: application.bundleOf,
    compiled: application.compiled,
    credentialsOf: (id) => callers.credentialsOf(id),
    servicesOf: (id, traceHeader) => site.endpoint.servicesOf(callers.callerOf(id), traceHeader),
    environment: {
      AWS_ENDPOINT_URL: awsEndpointUrl,
      AWS_ENDPOINT_URL_S3: awsEndpointUrl,
      // Where the policy engines are: on AWS in layers and in the instance's own folder.
      PATH: process.env.PATH ?? '',
      STEPFORM_CACHE: process.env.STEPFORM_CACHE || machineCache,
      RUNS_OF: site.functionSettings.RUNS_OF ?? '',
      RUN_TASK_SECONDS: site.functionSettings.RUN_TASK_SECONDS ?? '',
      COMMIT_ARCHIVE_SECONDS: site.functionSettings.COMMIT_ARCHIVE_SECONDS ?? '',
    },
    region: home.region,
    usage,
    logs,
    faults,
  });
  const invoke = async (functionArn: string, payload: unknown, run?: string): Promise<unknown> => {
    const result = await lambda.invoke(functionArn, JSON.stringify(payload ?? null), { run });
    if (result.failure) throw new FunctionError(result.failure.errorType, result.failure.errorMessage, result.payload);
    return JSON.parse(result.payload) as unknown;
  };
  const events = new Events({ stack, home, faults, log, invoke: (arn, event) => invoke(arn, event) });
  const apis = stack.all('AWS::ApiGatewayV2::Api');
  const api = apis.find(({ id }) => !id.startsWith('EnvironmentApi'));
  if (!api) throw new StartError('the template has no AWS::ApiGatewayV2::Api');
  const routes = readRoutes(stack, api);
  const environments = environmentsOf(stack, apis);
  checkInvokers(stack, permissions, [...routes, ...(environments?.routes ?? [])], events);

  const kms = new Kms(folder.at('kms.key'), stack.all('AWS::KMS::Key'));
  const ecs = openEcs(site, events);
  const database = Database.open(folder.path, { isUsed: folder.marker?.used });
  const states = openStates(site, database, permissions, invoke, events);
  const machine = stack.one<MachineProperties>('AWS::StepFunctions::StateMachine');
  const { DefinitionString, Definition } = machine.properties;
  const definition = Definition ?? (JSON.parse(DefinitionString ?? '{}') as object);
  const { RUN_TASK_SECONDS: seconds } = site.functionSettings;
  states.createStateMachine(machine.arn, seconds ? withRunTaskSeconds(definition, Number(seconds)) : definition);
  const s3 = openS3(site, database, events);
  const dynamodb = new DynamoDb(database);
  for (const table of stack.all<TableProperties>('AWS::DynamoDB::Table')) dynamodb.ensureTable(table);

  const { TaskRoleArn, ExecutionRoleArn } = stack.one<TaskDefinition>('AWS::ECS::TaskDefinition').properties;
  const roles = [TaskRoleArn, ExecutionRoleArn].filter((role) => role !== undefined);
  const accesses = new Accesses(stack, home, kms, roles);
  const cors = new Cors(stack);
  const senders = functions.filter(({ properties }) => properties.Environment?.Variables?.EMAIL_SENDER);
  const mail = new Mail(
    folder.at('mail'),
    site.smtp,
    senders.map(({ ref }) => ref),
  );
  return {
    accesses,
    api,
    callers,
    cors,
    database,
    dynamodb,
    ecs,
    environments,
    events,
    kms,
    lambda,
    mail,
    machine,
    routes,
    s3,
    states,
  };
};

/** Of the WebSocket API only the function behind `$connect` matters: clients send no messages. */
const environmentsOf = (stack: Stack, apis: Resource[]): Parts['environments'] => {
  const own = apis.filter(({ id }) => id.startsWith('EnvironmentApi'));
  const api = own.find(({ properties }) => properties.Body !== undefined);
  const sockets = own.find(({ properties }) => properties.ProtocolType === 'WEBSOCKET');
  if (!api || !sockets) return undefined;
  const integrations = stack.all<{ ApiId: string; IntegrationUri: string }>('AWS::ApiGatewayV2::Integration');
  const connect = integrations.find(({ properties }) => properties.ApiId === sockets.ref);
  const connectArn = invokedBy(connect?.properties.IntegrationUri ?? '');
  if (!connectArn) throw new StartError('the WebSocket API has no function');
  return { api, routes: readRoutes(stack, api), connectArn };
};

/**
 * While users try things out, their run tasks and sign-in issuer may be on this machine. On AWS, loopback is inside the
 * function, and the issuer's secret is in Parameter Store.
 */
const onThisMachine = (
  resource: Resource<FunctionProperties>,
  { application, functionSettings }: Site,
): Resource<FunctionProperties> => {
  const { Variables = {} } = resource.properties.Environment ?? {};
  const changed = { ...Variables };
  // Runners on this machine call the platform directly, not through the proxy in front of it.
  const startsRunners = Variables.CLUSTER_ARN !== undefined;
  for (const [name, value] of Object.entries({ ...unset, ...functionSettings }))
    if (Variables[name] !== undefined && !(name === 'PUBLIC_URL' && startsRunners)) changed[name] = value;
  if (changed.WARM_RUNNERS) changed.WARM_RUNNERS = withVersion(changed.WARM_RUNNERS, application);
  if (Variables.OUTBOUND_ALLOWED_CIDRS !== undefined) {
    const ranges = ['127.0.0.0/8', '::1/128', Variables.OUTBOUND_ALLOWED_CIDRS];
    changed.OUTBOUND_ALLOWED_CIDRS = ranges.filter(Boolean).join(',');
  }
  return { ...resource, properties: { ...resource.properties, Environment: { Variables: changed } } };
};

/** There is one task definition here, for any program. */
const withVersion = (warmRunners: string, { runner }: Application): string => {
  const version = createHash('sha256').update(readFileSync(runner)).digest('hex');
  return JSON.stringify({ ...(JSON.parse(warmRunners) as WarmRunners), version });
};

/** AWS would refuse these invocations only when they happen. */
const checkInvokers = (stack: Stack, permissions: Permissions, routes: DeclaredRoute[], events: Events) => {
  for (const { key, functionArn, roleArn } of routes) checkRoute(permissions, roleArn, key, functionArn);
  const invokers = new Invokers(stack);
  for (const { functionArn, rule, ruleArn } of events.targets)
    invokers.check('events.amazonaws.com', ruleArn, functionArn, `rule ${rule}`);
};

const openS3 = ({ folder, stack }: Site, database: Database, events: Events): S3 => {
  const buckets = stack.all<BucketProperties>('AWS::S3::Bucket');
  const announced = new Set(
    buckets
      .filter((b) => b.properties.NotificationConfiguration?.EventBridgeConfiguration?.EventBridgeEnabled)
      .map((b) => b.ref),
  );
  const s3 = new S3(database, folder.at('s3'), (object) => {
    if (announced.has(object.bucket)) events.publish(objectCreated(object));
  });
  for (const bucket of buckets) s3.ensureBucket(bucket.ref);
  return s3;
};

const objectCreated = ({ bucket, etag, key, sequencer, size }: ObjectCreated) => ({
  source: 'aws.s3',
  'detail-type': 'Object Created',
  resources: [`arn:aws:s3:::${bucket}`],
  detail: { version: '0', bucket: { name: bucket }, object: { key, size, etag, sequencer }, reason: 'PutObject' },
});

const openEcs = ({ application, folder, runnerEnvironment, stack, usage }: Site, events: Events): Ecs => {
  const definition = stack.one<TaskDefinition>('AWS::ECS::TaskDefinition');
  return new Ecs({
    folder: folder.at('tasks'),
    logs: folder.at('logs'),
    clusterArn: stack.one('AWS::ECS::Cluster').arn,
    definition,
    program: application.runner,
    ports: portsFile(folder),
    environment: runnerEnvironment,
    onEvent: (detail, taskArn) =>
      events.publish({ source: 'aws.ecs', 'detail-type': 'ECS Task State Change', resources: [taskArn], detail }),
    onUsage: (run, seconds) => usage.recordForRun(run, 'fargate', 'task', fargate(definition.properties, seconds)),
  });
};

/** Fargate bills at least a minute; CPU in units of 1/1024, memory in MB. */
const fargate = ({ Cpu, Memory }: TaskDefinition, seconds: number) => {
  const hours = Math.max(60, seconds) / 3600;
  return { seconds, vcpuHours: (Number(Cpu) / 1024) * hours, gbHours: (Number(Memory) / 1024) * hours };
};

type InvokeFunction = (functionArn: string, payload: unknown, run?: string) => Promise<unknown>;

/** Step Functions' name for it; Lambda itself failed, not the function. */
const asTaskError = (error: Error): never => {
  if (error.name === 'TooManyRequestsException') error.name = `Lambda.${error.name}`;
  throw error;
};

const openStates = (
  { folder, home, stack }: Site,
  database: Database,
  permissions: Permissions,
  invoke: InvokeFunction,
  events: Events,
) => {
  const { id, properties } = stack.one<MachineProperties>('AWS::StepFunctions::StateMachine');
  return new StepFunctionsService({
    dataDir: folder.at('executions'),
    database,
    accountId: home.accountId,
    region: home.region,
    invoke: async (functionArn, payload, { executionName }) => {
      checkMachine(permissions, properties.RoleArn, id, functionArn);
      return invoke(functionArn, payload, executionName).catch(asTaskError);
    },
    onStatusChange: (event) => events.publish(event),
  });
};

/** The error of a failed function; `name` is the function's own error name, which Step Functions matches. */
class FunctionError extends Error {
  /** @param payload Lambda's JSON with errorType, errorMessage and trace */
  constructor(name: string, message: string, payload: string) {
    super(message, { cause: payload });
    this.name = name;
  }
}
