import { Ecs } from '#infra/local/aws/ecs/ecs.ts';
import type { TaskDefinition } from '#infra/local/aws/ecs/ecs-task.ts';
import type { Events } from '#infra/local/aws/events/events.ts';
import type { Permissions } from '#infra/local/aws/iam/iam.ts';
import { checkMachine } from '#infra/local/aws/lambda/invokers.ts';
import { type ObjectCreated, S3 } from '#infra/local/aws/s3/s3.ts';
import { withRunTaskSeconds } from '#infra/local/aws/step-functions/run-task-limits.ts';
import { StepFunctionsService } from '#infra/local/aws/step-functions/service.ts';
import type { Database } from '#infra/local/host/database.ts';
import { portsFile } from '#infra/local/host/moved-ports.ts';
import type { Resource } from '#infra/local/host/template.ts';
import type { Site } from './site.ts';

interface BucketProperties {
  NotificationConfiguration?: { EventBridgeConfiguration?: { EventBridgeEnabled?: boolean } };
}
export interface MachineProperties {
  RoleArn: string;
  DefinitionString?: string;
  Definition?: object;
}

/** Buckets, which announce new objects as far as the template says. */
export const openS3 = ({ folder, stack }: Site, database: Database, events: Events): S3 => {
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

export const openEcs = ({ application, folder, runnerEnvironment, stack, usage }: Site, events: Events): Ecs => {
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

export const openStates = (
  { folder, functionSettings, home }: Site,
  { arn, id, properties }: Resource<MachineProperties>,
  database: Database,
  permissions: Permissions,
  invoke: InvokeFunction,
  events: Events,
) => {
  const states = new StepFunctionsService({
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
  const { RUN_TASK_SECONDS: seconds } = functionSettings;
  const definition = properties.Definition ?? (JSON.parse(properties.DefinitionString ?? '{}') as object);
  states.createStateMachine(arn, seconds ? withRunTaskSeconds(definition, Number(seconds)) : definition);
  return states;
};
