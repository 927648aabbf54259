import { AsyncLocalStorage } from 'node:async_hooks';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';

/** The invocation of a function that the running code belongs to: for log lines, and for the trace of a run. */

/** The request of a client that API Gateway passed on. */
export interface ReceivedRequest {
  /** API Gateway's id, as in its access log. */
  id: string;
  /** When API Gateway received it: UTC ISO 8601. */
  at: string;
  method: string;
  path: string;
  /** The client's own trace (W3C Trace Context), if it sent one. */
  traceparent?: string;
}

interface Invocation {
  /** API Gateway's id of the request, or Lambda's id of the invocation. */
  requestId: string;
  request?: ReceivedRequest;
  /** The run that the invocation is about, if known. */
  runId?: string;
}

const current = new AsyncLocalStorage<Invocation>();

/** Undefined outside a deployed function. */
export const invocation = (): Invocation | undefined => current.getStore();

export const runIdIn = (text: string): string | undefined => /\brun-[A-Za-z0-9]{16}\b/.exec(text)?.[0];

/** Version 00 with ids that are not zero (W3C Trace Context §3.2.2); anything else is ignored, as it demands. */
export const traceparentForm = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

/** It is stored with runs. */
const maxPath = 200;

const receivedIn = ({ requestContext, headers }: APIGatewayProxyEventV2): ReceivedRequest => {
  const { http, requestId, timeEpoch } = requestContext;
  const { traceparent = '' } = headers;
  return {
    id: requestId,
    at: new Date(timeEpoch).toISOString(),
    method: http.method,
    path: http.path.slice(0, maxPath),
    ...(traceparentForm.test(traceparent) ? { traceparent } : {}),
  };
};

/** Events of the state machine, of EventBridge, and of other functions. */
interface OtherEvent {
  runId?: unknown;
  run?: { runId?: unknown };
  detail?: { name?: unknown };
}

const read = (event: unknown, { awsRequestId }: Context): Invocation => {
  const http = event as Partial<APIGatewayProxyEventV2> | null;
  if (http?.requestContext?.http) {
    const request = receivedIn(http as APIGatewayProxyEventV2);
    return { requestId: request.id, request, runId: runIdIn(request.path) };
  }
  const { runId, run, detail } = (event ?? {}) as OtherEvent;
  return { requestId: awsRequestId, runId: runIdIn(String(runId ?? run?.runId ?? detail?.name)) };
};

type Handler = (event: unknown, context: Context) => unknown;

/** Wraps the handler of every deployed function (infra/build/bundle.ts). */
export const asInvocation =
  (handler: Handler): Handler =>
  (event, context) =>
    current.run(read(event, context), () => handler(event, context));

/** Notes the run of an invocation whose event does not name it. */
export const noteRun = (runId: string): void => {
  const store = current.getStore();
  if (store) store.runId = runId;
};
