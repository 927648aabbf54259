import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as v from 'valibot';
import { securityHeaders } from '#api/answer.ts';
import { logError } from '#platform/store/log.ts';
import { ProtocolError } from './caller.ts';

/** Parses requests and builds responses of the runner and agent protocols. */

export type Event = Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'>;

export const bytesOf = (event: Event): Buffer =>
  Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');

/** @throws {ProtocolError} 400, 422 */
export const parse = <S extends v.GenericSchema>(schema: S, event: Event): v.InferOutput<S> => {
  let json: unknown;
  try {
    json = JSON.parse(bytesOf(event).toString('utf8'));
  } catch {
    throw new ProtocolError(400, 'the body is not JSON');
  }
  const result = v.safeParse(schema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new ProtocolError(422, `${v.getDotPath(issue) ?? 'body'}: ${issue?.message}`);
};

const answer = (statusCode: number, body: unknown): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: { ...securityHeaders, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** Responds with the result of `work`, or with its error. */
export const respond = async (work: () => Promise<unknown>): Promise<APIGatewayProxyStructuredResultV2> => {
  try {
    return answer(200, await work());
  } catch (error) {
    if (error instanceof ProtocolError) return answer(error.statusCode, { error: error.message });
    logError('request failed', error);
    return answer(500, { error: 'internal error; try again' });
  }
};
