import { DynamoDb, type TableProperties } from '#infra/local/aws/dynamodb/dynamodb.ts';
import type { Ecs } from '#infra/local/aws/ecs/ecs.ts';
import type { TaskDefinition } from '#infra/local/aws/ecs/ecs-task.ts';
import { Events } from '#infra/local/aws/events/events.ts';
import { Accesses } from '#infra/local/aws/iam/access.ts';
import { Permissions } from '#infra/local/aws/iam/iam.ts';
import { Kms } from '#infra/local/aws/kms/kms.ts';
import { checkRoute, Invokers } from '#infra/local/aws/lambda/invokers.ts';
import { type FunctionProperties, Lambda } from '#infra/local/aws/lambda/lambda.ts';
import type { S3 } from '#infra/local/aws/s3/s3.ts';
import { Mail } from '#infra/local/aws/ses/mail.ts';
import { keptSecret } from '#infra/local/aws/ssm/secrets.ts';
import type { StepFunctionsService } from '#infra/local/aws/step-functions/service.ts';
import { Callers } from '#infra/local/host/callers.ts';
import { Cors } from '#infra/local/host/cors.ts';
import { Database } from '#infra/local/host/database.ts';
import { StartError } from '#infra/local/host/errors.ts';
import { machineCache } from '#infra/local/host/machine-cache.ts';
import { decisionRecorder } from '#infra/local/host/recorder.ts';
import { type DeclaredRoute, invokedBy, readRoutes } from '#infra/local/host/routes.ts';
import type { Resource, Stack } from '#infra/local/host/template.ts';
import { onThisMachine } from './functions.ts';
import { type MachineProperties, openEcs, openS3, openStates } from './services.ts';
import type { Site } from './site.ts';

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
  const machine = stack.one<MachineProperties>('AWS::StepFunctions::StateMachine');
  const states = openStates(site, machine, database, permissions, invoke, events);
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

/** AWS would refuse these invocations only when they happen. */
const checkInvokers = (stack: Stack, permissions: Permissions, routes: DeclaredRoute[], events: Events) => {
  for (const { key, functionArn, roleArn } of routes) checkRoute(permissions, roleArn, key, functionArn);
  const invokers = new Invokers(stack);
  for (const { functionArn, rule, ruleArn } of events.targets)
    invokers.check('events.amazonaws.com', ruleArn, functionArn, `rule ${rule}`);
};

/** The error of a failed function; `name` is the function's own error name, which Step Functions matches. */
class FunctionError extends Error {
  /** @param payload Lambda's JSON with errorType, errorMessage and trace */
  constructor(name: string, message: string, payload: string) {
    super(message, { cause: payload });
    this.name = name;
  }
}
