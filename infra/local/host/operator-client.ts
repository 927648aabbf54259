import { AwsClient } from 'aws4fetch';
import type { Local } from './folder.ts';

/** Long-lived like those of an IAM user: there is no session token. */
export interface OperatorCredentials {
  accessKeyId: string;
  secretAccessKey: string;
}

type Operated = Pick<Local, 'awsCredentials' | 'awsEndpointUrl'>;

/**
 * Calls the local AWS endpoint as the operator of this machine.
 * @param path with a leading slash
 */
export const operatorFetch = (
  { awsCredentials, awsEndpointUrl }: Operated,
  path: string,
  { service = 'stepform', ...init }: RequestInit & { service?: string } = {},
): Promise<Response> =>
  new AwsClient({ ...awsCredentials, region: 'us-east-1', retries: 0 }).fetch(`${awsEndpointUrl}${path}`, {
    ...init,
    aws: { service },
  });
