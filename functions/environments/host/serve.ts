import httpRouter from '@middy/http-router';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { admit } from '#api/admission.ts';
import type { Answer } from '#api/answer.ts';
import { namingOrganizations } from '#api/naming.ts';
import { readRequest } from '#api/request.ts';
import { isTooLarge } from '#api/response-size.ts';
import { logError } from '#platform/store/log.ts';
import { authority } from '#public-api/authority.ts';
import { json } from './answers.ts';
import { CoderError, coderErrorOf, internalError, notFound } from './errors.ts';
import type { Route } from './route.ts';

const tokenName = 'coder_session_token';

const pagePath = /^\/environments(\/(builds|templates))?(?=\/api\/)/;

/**
 * On the web page's origin, a token is accepted in the header only, because no other site can make a browser send it.
 */
const isOfPage = ({ requestContext }: APIGatewayProxyEventV2): boolean => pagePath.test(requestContext.http.path);

/** A malformed cookie is treated like an unknown token. */
const decoded = (cookie: string): string => {
  try {
    return decodeURIComponent(cookie);
  } catch {
    return cookie;
  }
};

/**
 * Finds the token in the same places as Coder's own server; tokens are removed from the query, so that no log
 * contains them.
 */
const withToken = (event: APIGatewayProxyEventV2): APIGatewayProxyEventV2 => {
  if (isOfPage(event)) return event;
  const query = new URLSearchParams(event.rawQueryString);
  const cookie = event.cookies?.find((pair) => pair.startsWith(`${tokenName}=`))?.slice(tokenName.length + 1);
  const { authorization } = event.headers;
  const token =
    (cookie && decoded(cookie)) ||
    query.get(tokenName) ||
    event.headers['coder-session-token'] ||
    authorization?.replace(/^Bearer +/i, '') ||
    query.get('access_token') ||
    '';
  for (const name of [tokenName, 'access_token']) query.delete(name);
  const headers: APIGatewayProxyEventV2['headers'] = { ...event.headers, authorization: token && `Bearer ${token}` };
  delete headers['coder-session-token'];
  return { ...event, headers, rawQueryString: query.toString() };
};

/** Converts paths to the router's form: without prefix and trailing slash. */
const withOwnPath = (event: APIGatewayProxyEventV2): APIGatewayProxyEventV2 => {
  const { http } = event.requestContext;
  const path = http.path.replace(pagePath, '').replace(/(?<=.)\/+$/, '');
  return { ...event, rawPath: path, requestContext: { ...event.requestContext, http: { ...http, path } } };
};

const tooLarge = new CoderError(400, 'The response exceeds the limit of 6 MB.', 'Request fewer items with limit or q.');

const unexpected = (error: unknown, { requestContext: { http } }: APIGatewayProxyEventV2): CoderError => {
  logError('request failed', error, { method: http.method, path: http.path });
  return internalError;
};

const errorAnswer = (error: unknown, event: APIGatewayProxyEventV2): Answer => {
  const { status, message, detail, validations } = coderErrorOf(error) ?? unexpected(error, event);
  return json(status, { message, detail, validations });
};

const rateLimited = (headers: Record<string, string>): Answer => {
  const message = `You've been rate limited. Wait ${headers['retry-after']} s, then retry.`;
  const answer = json(429, { message });
  return { ...answer, headers: { ...answer.headers, ...headers } };
};

/**
 * The handler of the environments' host. No exception reaches the client.
 * @param noRoute error for a method and path without a route; its texts are bundled only where API Gateway sends such
 * requests
 */
export const serve = (routes: Route[], noRoute: (method: string, path: string) => CoderError = notFound) => {
  const router = httpRouter<APIGatewayProxyEventV2, Answer>({
    routes: routes.map(({ method, path, maxBytes, answer }) => ({
      method,
      path,
      handler: (event: APIGatewayProxyEventV2) => answer(readRequest(event, maxBytes)),
    })),
    notFoundResponse: ({ method, path }) => {
      throw noRoute(method, path);
    },
  });
  return namingOrganizations(async (apiEvent: APIGatewayProxyEventV2, context: Context): Promise<Answer> => {
    try {
      const event = withOwnPath(withToken(apiEvent));
      // `coder` sends several requests per command, and does not retry rejected ones.
      const { headers, refusal } = await admit(event, authority, { minutely: true });
      if (refusal) return rateLimited(headers);
      // The router returns a response, or a promise of one.
      const answer = (await router(event, context, { signal: new AbortController().signal })) as Answer;
      if (event.requestContext.http.method === 'GET' && isTooLarge(answer)) throw tooLarge;
      return { ...answer, headers: { ...answer.headers, ...headers } };
    } catch (error) {
      return errorAnswer(error, apiEvent);
    }
  });
};
