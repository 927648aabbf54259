import httpRouter from '@middy/http-router';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { admit } from '#api/admission.ts';
import type { Answer } from '#api/answer.ts';
import { namingOrganizations } from '#api/naming.ts';
import { reportedError } from '#api/reported-error.ts';
import { type ApiRequest, readRequest } from '#api/request.ts';
import type { Method } from '#api/route.ts';
import { findScimToken } from '#resources/users/tokens.ts';
import { errorAnswer } from './answers.ts';
import { missing, ofApi, ScimError } from './errors.ts';

export interface ScimRoute {
  method: Method;
  path: `/${string}`;
  answer(request: ApiRequest): Promise<Answer>;
}

/** As in HCP Terraform. */
const maxBytes = 1024 * 1024;

/** Requests count for the account behind the token (api/admission.ts). */
const callers = {
  idIn: () => undefined,
  callerOf: async (secret: string) => (await findScimToken(secret))?.userId,
};

const answerFor = (error: unknown, event: APIGatewayProxyEventV2): Answer =>
  errorAnswer(error instanceof ScimError ? error : ofApi(reportedError(error, event)));

const rateLimited = (headers: Record<string, string>): Answer => {
  const answer = errorAnswer(new ScimError(429, `Too many requests. Wait ${headers['retry-after']} s, then retry.`));
  return { ...answer, headers: { ...answer.headers, ...headers } };
};

/** The Lambda handler for directories. No exception reaches the client. */
export const serveScim = (routes: ScimRoute[]) => {
  const router = httpRouter<APIGatewayProxyEventV2, Answer>({
    routes: routes.map(({ method, path, answer }) => ({
      method,
      path,
      handler: (event: APIGatewayProxyEventV2) => answer(readRequest(event, maxBytes)),
    })),
    notFoundResponse: ({ method, path }) => {
      throw missing(method, path);
    },
  });
  return namingOrganizations(async (event: APIGatewayProxyEventV2, context: Context): Promise<Answer> => {
    try {
      const { headers, refusal } = await admit(event, callers);
      if (refusal) return rateLimited(headers);
      // The router returns a response, or a promise of one.
      const answer = (await router(event, context, { signal: new AbortController().signal })) as Answer;
      return { ...answer, headers: { ...answer.headers, ...headers } };
    } catch (error) {
      return answerFor(error, event);
    }
  });
};
