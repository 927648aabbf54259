import middy from '@middy/core';
import httpRouter from '@middy/http-router';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { admit } from './admission.ts';
import { type Answer, json } from './answer.ts';
import type { Authority } from './authority.ts';
import { notFound } from './errors.ts';
import { namingOrganizations } from './naming.ts';
import { featureNotProvided } from './not-provided.ts';
import { reportedError } from './reported-error.ts';
import { readRequest } from './request.ts';
import { checkSize } from './response-size.ts';
import type { Route } from './route.ts';

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
    const { status, errors } = reportedError(request.error, request.event);
    request.response = json(status, { errors });
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
