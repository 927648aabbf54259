import middy from '@middy/core';
import httpRouter from '@middy/http-router';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { NestingError } from '#platform/formats/hcl.ts';
import { DamagedContentError } from '#platform/store/damaged-content.ts';
import { diskFullText, isDiskFull } from '#platform/store/disk-full.ts';
import { logError } from '#platform/store/log.ts';
import { FilterTooWideError } from '#platform/store/scan.ts';
import { admit } from './admission.ts';
import { type Answer, json } from './answer.ts';
import type { Authority } from './authority.ts';
import { ApiError, badRequest, conflict, notFound, unprocessable } from './errors.ts';
import { namingOrganizations } from './naming.ts';
import { featureNotProvided } from './not-provided.ts';
import { readRequest } from './request.ts';
import { checkSize } from './response-size.ts';
import type { Route } from './route.ts';

const internal = new ApiError(500, [
  {
    title: 'internal error',
    detail: 'Internal error. Try again; if it keeps failing, tell the operator of this platform.',
  },
]);

const diskFull = new ApiError(507, [{ title: 'insufficient storage', detail: diskFullText }]);

const tooWide = ({ looked }: FilterTooWideError): ApiError =>
  badRequest(
    `The filter matches too few entries of a long list: ${looked} entries were read without filling this page. Narrow it by name, workspace or time, or remove it.`,
    'filter',
  );

const apiErrorOf = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  if (error instanceof FilterTooWideError) return tooWide(error);
  if (error instanceof NestingError) return unprocessable('/data', error.message);
  if (isDiskFull(error)) return diskFull;
  return error instanceof DamagedContentError ? conflict(error.message) : internal;
};

/** Details of internal errors appear only in the log: they can name records that the caller may not see. */
const errorAnswer = (error: unknown, event: APIGatewayProxyEventV2): Answer => {
  const answered = apiErrorOf(error);
  if (answered === internal || answered === diskFull || error instanceof DamagedContentError) {
    const { http } = event.requestContext;
    logError('request failed', error, { method: http.method, path: http.path });
  }
  return json(answered.status, { errors: answered.errors });
};

const dispatch =
  ({ answer, maxBytes }: Route, authority: Authority) =>
  async (event: APIGatewayProxyEventV2): Promise<Answer> =>
    checkSize(event.requestContext.http.method, await answer(readRequest(event, maxBytes), authority));

interface Serving {
  /** Requests that count against the caller's rate limit: a forge sends webhooks of many users from few addresses. */
  counts?: 'every request' | 'refused requests';
}

/**
 * Creates the Lambda handler for these routes behind API Gateway (HCP Terraform API v2). Other paths get 404, and no
 * exception reaches the client.
 */
export const serve = (routes: Route[], authority: Authority, { counts = 'every request' }: Serving = {}) => {
  const router = httpRouter<APIGatewayProxyEventV2, Answer>({
    routes: routes.map((route) => ({ method: route.method, path: route.path, handler: dispatch(route, authority) })),
    notFoundResponse: ({ method, path }) => {
      const feature = featureNotProvided(path);
      const missing = `${method} ${path} not found`;
      throw notFound(feature ? `${missing}: this platform does not support ${feature}.` : `${missing}.`);
    },
  });
  const app = middy(router).onError((request) => {
    request.response = errorAnswer(request.error, request.event);
  });
  return namingOrganizations(async (event: APIGatewayProxyEventV2, context: Context): Promise<Answer> => {
    if (counts === 'refused requests') {
      const answer = await app(event, context);
      if ((answer.statusCode ?? 200) < 400) return answer;
      const { headers, refusal } = await admit(event, authority);
      return refusal ? { ...refusal, headers: { ...refusal.headers, ...headers } } : answer;
    }
    const { headers, refusal } = await admit(event, authority);
    const answer: Answer = refusal ?? (await app(event, context));
    return { ...answer, headers: { ...answer.headers, ...headers } };
  });
};
