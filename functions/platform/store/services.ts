import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { ECSClient } from '@aws-sdk/client-ecs';
import type { SFNClient } from '@aws-sdk/client-sfn';

/** A request to a REST API of AWS. */
export interface Call {
  method: string;
  /** Names in lower case. */
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer> | string | Readable;
}

export interface AwsResponse {
  status: number;
  /** Names in lower case. */
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * The AWS services behind the store. On AWS, `table`, `states` and `tasks` are clients of the SDK (dynamodb.ts,
 * states.ts, tasks.ts), and everything else is a signed request (aws.ts). On one machine, the platform gives each
 * function an object that calls its services in the same process (infra/local/host/services.ts).
 */
export interface Services {
  /** DynamoDB. */
  table: Pick<DynamoDBClient, 'send'>;
  /** Step Functions. */
  states: Pick<SFNClient, 'send'>;
  /** ECS. */
  tasks: Pick<ECSClient, 'send'>;
  /** S3's REST API, with any status as a result. @param url in S3's path style */
  objects(url: string, call: Call): Promise<AwsResponse>;
  /** KMS; binary values are in base64. */
  keys<T>(operation: 'Decrypt' | 'GenerateDataKey' | 'GetPublicKey' | 'Sign', input: object): Promise<T>;
  /** Invokes a function asynchronously. */
  invoke(functionName: string, event: object): Promise<void>;
  /** Invokes a function and returns its result. @throws {Error} if it fails */
  call(functionName: string, event: object): Promise<unknown>;
  /** SES API v2: SendEmail. @throws errors with a `statusCode` if SES rejects the message */
  mail(message: object): Promise<void>;
  /** Sends a message to a connection of a WebSocket API, or closes it. False if it is gone. @param url of the stage */
  connection(url: string, connectionId: string, message?: string): Promise<boolean>;
}

/** Undefined on AWS. Looked up for each call, so that it does not matter when a module is loaded. */
export const local = (): Services | undefined =>
  (process as unknown as Record<symbol, Services | undefined>)[Symbol.for('stepform.services')];
