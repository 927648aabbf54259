import type { Home } from '#infra/local/host/home.ts';
import type { Resource, Stack } from '#infra/local/host/template.ts';
import type { Kms } from '../kms/kms.ts';
import type { S3Target } from '../s3/request.ts';
import type { Access } from './iam.ts';

type Input = Record<string, unknown>;

interface TableProperties {
  SSESpecification?: { SSEEnabled?: boolean; KMSMasterKeyId?: string };
}
interface BucketProperties {
  BucketEncryption?: {
    ServerSideEncryptionConfiguration?: { ServerSideEncryptionByDefault?: { KMSMasterKeyID?: string } }[];
  };
}

/** IAM's view of each call (service authorization reference): actions, resources and condition keys. */
export class Accesses {
  readonly #home: Home;
  readonly #kms: Kms;
  readonly #stateMachineArn: string | undefined;
  readonly #clusterArn: string | undefined;
  /** Keys by table or bucket, if the template names a customer managed one. */
  readonly #keyOf: Map<string, string>;
  readonly #roles: string[];
  readonly #socketApi: string | undefined;

  constructor(stack: Stack, home: Home, kms: Kms, roles: string[]) {
    this.#home = home;
    this.#kms = kms;
    this.#roles = roles;
    this.#stateMachineArn = stack.all('AWS::StepFunctions::StateMachine')[0]?.arn;
    this.#clusterArn = stack.all('AWS::ECS::Cluster')[0]?.arn;
    this.#socketApi = stack
      .all<{ ProtocolType?: string }>('AWS::ApiGatewayV2::Api')
      .find(({ properties }) => properties.ProtocolType === 'WEBSOCKET')?.ref;
    this.#keyOf = new Map(
      [
        ...stack.all<TableProperties>('AWS::DynamoDB::Table').map(tableKey),
        ...stack.all<BucketProperties>('AWS::S3::Bucket').map(bucketKey),
      ].filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  dynamodb(action: string, input: Input): Access[] {
    const tables = input.RequestItems ? Object.keys(input.RequestItems) : [String(input.TableName)];
    const index = input.IndexName === undefined ? '' : `/index/${input.IndexName}`;
    const { pk } = (input.Key ?? input.Item ?? {}) as { pk?: { S?: string } };
    const context: Record<string, string> = pk?.S === undefined ? {} : { 'dynamodb:LeadingKeys': pk.S };
    return tables.flatMap((name) => {
      const table = name.split('/').at(-1)!;
      return [
        { action: `dynamodb:${action}`, resource: this.#arn('dynamodb', `table/${table}${index}`), context },
        // DynamoDB decrypts the table's key with the caller's permissions (DynamoDB: encryption at rest, usage notes).
        ...this.#key(table, 'kms:Decrypt', 'dynamodb'),
      ];
    });
  }

  s3({ action, bucket, key, source }: S3Target): Access[] {
    const resource = `arn:aws:s3:::${bucket}${key && `/${key}`}`;
    switch (action) {
      case 'GetObject':
      case 'HeadObject':
        return [{ action: 's3:GetObject', resource }, ...this.#key(bucket, 'kms:Decrypt', 's3')];
      case 'PutObject':
        return [
          { action: 's3:PutObject', resource },
          ...this.#key(bucket, 'kms:GenerateDataKey', 's3'),
          ...(source === undefined
            ? []
            : [
                { action: 's3:GetObject', resource: `arn:aws:s3:::${source}` },
                ...this.#key(bucket, 'kms:Decrypt', 's3'),
              ]),
        ];
      default:
        return [{ action: `s3:${action}`, resource }];
    }
  }

  kms(action: string, input: Input): Access[] {
    return [{ action: `kms:${action}`, resource: this.#kms.keyOf(input) }];
  }

  lambda(functionArn: string): Access[] {
    return [{ action: 'lambda:InvokeFunction', resource: functionArn }];
  }

  /** ARN of the one WebSocket API. */
  connections(method: string, stage: string, connection: string): Access[] {
    const resource = this.#arn('execute-api', `${this.#socketApi}/${stage}/${method}/@connections/${connection}`);
    return [{ action: 'execute-api:ManageConnections', resource }];
  }

  ecs(action: string, input: Input): Access[] {
    const cluster = this.#full(input.cluster, 'cluster');
    const context = { 'ecs:cluster': cluster };
    switch (action) {
      case 'RunTask':
        return [
          { action: 'ecs:RunTask', resource: this.#full(input.taskDefinition, 'task-definition'), context },
          ...(input.tags
            ? [
                {
                  action: 'ecs:TagResource',
                  resource: `${cluster.replace(':cluster/', ':task/')}/*`,
                  context: { 'ecs:CreateAction': 'RunTask' },
                },
              ]
            : []),
          ...this.#roles.map((resource) => ({
            action: 'iam:PassRole',
            resource,
            context: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' },
          })),
        ];
      case 'ListTasks':
        return [{ action: 'ecs:ListTasks', resource: '*', context }];
      default: {
        const tasks = [input.task ?? input.tasks ?? []].flat() as string[];
        const under = cluster.replace(':cluster/', ':task/');
        return tasks.map((task) => ({
          action: `ecs:${action}`,
          resource: task.startsWith('arn:') ? task : `${under}/${task}`,
          context,
        }));
      }
    }
  }

  states(action: string, input: Input): Access[] {
    // The state machine that issued a task token authorizes its use (infra/stack/grants.ts).
    const resource = action.startsWith('SendTask')
      ? (this.#stateMachineArn ?? '*')
      : String(input.stateMachineArn ?? input.executionArn ?? '*');
    return [{ action: `states:${action}`, resource }];
  }

  /** S3 reveals whether an object exists only to callers that may list (S3 API: GetObject). */
  listing(bucket: string): Access {
    return { action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}` };
  }

  #key(of: string, action: string, service: string): Access[] {
    const resource = this.#keyOf.get(of);
    const context = { 'kms:ViaService': `${service}.${this.#home.region}.amazonaws.com` };
    return resource ? [{ action, resource, context }] : [];
  }

  #full(name: unknown, kind: 'cluster' | 'task-definition'): string {
    if (name === undefined) return kind === 'cluster' ? (this.#clusterArn ?? '*') : '*';
    return String(name).startsWith('arn:') ? String(name) : this.#arn('ecs', `${kind}/${String(name)}`);
  }

  #arn(service: string, resource: string): string {
    return `arn:aws:${service}:${this.#home.region}:${this.#home.accountId}:${resource}`;
  }
}

const tableKey = ({ ref, properties }: Resource<TableProperties>) =>
  [ref, properties.SSESpecification?.KMSMasterKeyId] as const;

const bucketKey = ({ ref, properties }: Resource<BucketProperties>) =>
  [
    ref,
    properties.BucketEncryption?.ServerSideEncryptionConfiguration?.[0]?.ServerSideEncryptionByDefault?.KMSMasterKeyID,
  ] as const;
