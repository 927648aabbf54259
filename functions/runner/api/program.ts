import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { programUrl } from './addresses.ts';
import { ProtocolError } from './caller.ts';
import { respond } from './protocol.ts';

const program = /^\/runner\/v1\/program\/([0-9a-f]{64})$/;

/** Name of the requested program; undefined for every other request. */
export const requestedProgram = ({ rawPath, requestContext }: APIGatewayProxyEventV2): string | undefined =>
  requestContext.http.method === 'GET' ? program.exec(rawPath)?.[1] : undefined;

/** Redirects to the runner's program, for a container whose image does not have it. */
export const leadToProgram = async (name: string): Promise<APIGatewayProxyStructuredResultV2> => {
  const location = await programUrl(name);
  if (location) return { statusCode: 302, headers: { location, 'cache-control': 'no-store' } };
  return respond(() => Promise.reject(new ProtocolError(404, 'runners have their program in their image')));
};
