import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { programUrl } from './addresses.ts';
import { ProtocolError } from './caller.ts';
import { respond } from './protocol.ts';

const program = /^\/runner\/v1\/program\/([0-9a-f]{64})$/;

/** Its name; undefined for every other request. */
export const requestedProgram = ({ rawPath, requestContext }: APIGatewayProxyEventV2): string | undefined =>
  requestContext.http.method === 'GET' ? program.exec(rawPath)?.[1] : undefined;

/** Where the runner's program is: for a container that has nothing yet. */
export const leadToProgram = async (name: string): Promise<APIGatewayProxyStructuredResultV2> => {
  const location = await programUrl(name);
  if (location) return { statusCode: 302, headers: { location, 'cache-control': 'no-store' } };
  return respond(() => Promise.reject(new ProtocolError(404, 'runners have their program in their image')));
};
