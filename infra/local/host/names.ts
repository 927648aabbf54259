import { createHash } from 'node:crypto';
import type { Home } from './home.ts';

export interface Names {
  /** Value of `Ref` for this type (CloudFormation: return values). */
  ref: string;
  /** Values of `Fn::GetAtt`. */
  attributes: Record<string, string>;
}

/** Stable hexadecimal digits from a logical id, for names that AWS would generate. */
const hex = (id: string, length: number): string => createHash('sha256').update(id).digest('hex').slice(0, length);

const uuid = (id: string): string => hex(id, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** URL of an API of the template on this machine. */
export const apiUrlOf = (id: string, home: Home, protocol: unknown): string => {
  if (!id.startsWith('EnvironmentApi')) return home.apiUrl;
  return (protocol === 'WEBSOCKET' ? home.socketUrl : home.environmentsUrl) ?? home.apiUrl;
};

/**
 * Names of a resource on this machine, derived only from its logical id, so that data survive a restart.
 * @param property reads one of the resource's properties, for names that AWS derives from it
 */
export const nameResource = (
  id: string,
  type: string,
  home: Home,
  property: (name: string) => unknown = () => undefined,
): Names => {
  const arn = (service: string, resource: string, region = home.region, account = home.accountId) =>
    `arn:aws:${service}:${region}:${account}:${resource}`;
  const named = (ref: string, attributes: Record<string, string>): Names => ({ ref, attributes });
  switch (type) {
    case 'AWS::DynamoDB::Table':
      return named(id, { Arn: arn('dynamodb', `table/${id}`) });
    case 'AWS::S3::Bucket': {
      const bucket = `stepform-${id.toLowerCase()}`;
      return named(bucket, {
        Arn: arn('s3', bucket, '', ''),
        DomainName: `${bucket}.s3.amazonaws.com`,
        RegionalDomainName: `${bucket}.s3.${home.region}.amazonaws.com`,
      });
    }
    case 'AWS::KMS::Key':
      return named(uuid(id), { Arn: arn('kms', `key/${uuid(id)}`), KeyId: uuid(id) });
    case 'AWS::Lambda::Function':
      return named(id, { Arn: arn('lambda', `function:${id}`) });
    case 'AWS::IAM::Role':
      return named(id, { Arn: arn('iam', `role/${id}`, ''), RoleId: `AROA${hex(id, 16).toUpperCase()}` });
    case 'AWS::StepFunctions::StateMachine':
      return named(arn('states', `stateMachine:${id}`), { Arn: arn('states', `stateMachine:${id}`), Name: id });
    case 'AWS::ECS::Cluster':
      return named(id, { Arn: arn('ecs', `cluster/${id}`) });
    case 'AWS::ECS::TaskDefinition': {
      const definition = arn('ecs', `task-definition/${String(property('Family') ?? id)}:1`);
      return named(definition, { Arn: definition, TaskDefinitionArn: definition });
    }
    case 'AWS::ApiGatewayV2::Api':
      return named(hex(id, 10), {
        ApiId: hex(id, 10),
        ApiEndpoint: apiUrlOf(id, home, property('ProtocolType')),
        Arn: arn('apigateway', `/apis/${hex(id, 10)}`, home.region, ''),
      });
    case 'AWS::Events::Rule':
      return named(id, { Arn: arn('events', `rule/${id}`) });
    case 'AWS::Logs::LogGroup':
      return named(id, { Arn: arn('logs', `log-group:${id}:*`) });
    case 'AWS::SNS::Topic':
      return named(arn('sns', id), { TopicArn: arn('sns', id), TopicName: id });
    case 'AWS::SQS::Queue':
      return named(`https://sqs.${home.region}.amazonaws.com/${home.accountId}/${id}`, {
        Arn: arn('sqs', id),
        QueueName: id,
      });
    case 'AWS::EC2::SecurityGroup':
      return named(`sg-${hex(id, 17)}`, { GroupId: `sg-${hex(id, 17)}` });
    case 'AWS::EC2::Subnet':
      return named(`subnet-${hex(id, 17)}`, { SubnetId: `subnet-${hex(id, 17)}` });
    case 'AWS::EC2::VPC':
      return named(`vpc-${hex(id, 17)}`, { VpcId: `vpc-${hex(id, 17)}` });
    default:
      return named(id, {});
  }
};
