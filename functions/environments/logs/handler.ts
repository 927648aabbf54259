import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { environment } from '#platform/environment.ts';
import { callConnection, invokeLater } from '#platform/store/aws.ts';
import { logError } from '#platform/store/log.ts';
import { type Cursor, isSame, readEntries, start } from './entries.ts';
import { jobLog } from './jobs.ts';
import { type JobKind, redeemTicket } from './tickets.ts';

/**
 * Streams logs through the WebSocket API. `$connect` is answered at once, and an asynchronous call continues, because
 * no message can be sent to a connection before it is open.
 */

interface Connect {
  requestContext: { routeKey: string; connectionId: string };
  queryStringParameters?: Record<string, string>;
}

interface Delivery {
  connectionId: string;
  kind: JobKind;
  jobId: string;
  cursor: Cursor;
  after: number;
  /** Time of the last message, in ms since 1970. */
  sentAt: number;
}

/** When less than this remains of the function's time, another call continues. */
const enoughMs = 20_000;
const shortestPauseMs = 100;
const longestPauseMs = 1000;
/** Most builds end soon, and the client waits for that, so the log is polled more often at first. */
const eagerPauseMs = 200;
const eagerForMs = 30_000;
/** API Gateway closes connections after ten minutes without a message. */
const keepAliveMs = 4 * 60_000;
/** The connection opens a moment after the response to `$connect`. */
const connectingMs = 5000;

const nothing = { id: 0, log_source: 'provisioner_daemon', log_level: 'trace', stage: '', output: '' };

const post = (connectionId: string, message: object): Promise<boolean> =>
  callConnection(environment.environmentSocketUrl, connectionId, `${JSON.stringify(message)}\n`);

const hang = (connectionId: string): Promise<boolean> => callConnection(environment.environmentSocketUrl, connectionId);

const connect = async ({ requestContext, queryStringParameters }: Connect, self: string) => {
  const ticket = await redeemTicket(queryStringParameters?.ticket ?? '');
  if (!ticket) return { statusCode: 401 };
  const { connectionId } = requestContext;
  const delivery: Delivery = { ...ticket, connectionId, cursor: start, sentAt: 0 };
  await invokeLater(self, delivery);
  return { statusCode: 200 };
};

/** False when the client did not connect. */
const postFirst = async (connectionId: string, message: object): Promise<boolean> => {
  const end = Date.now() + connectingMs;
  for (let pause = 10; Date.now() < end; pause *= 2) {
    if (await post(connectionId, message)) return true;
    await sleep(pause);
  }
  return false;
};

/** Sends new entries; undefined when the client has disconnected or the log is complete. */
const deliverOnce = async (delivery: Delivery): Promise<Delivery | undefined> => {
  const { connectionId, kind, jobId, after } = delivery;
  const log = await jobLog(kind, jobId);
  // Completion is read before the log, so a complete log is read to its end.
  const { entries, cursor, isOver } = log
    ? await readEntries(log.parts, delivery.cursor)
    : { entries: [], cursor: delivery.cursor, isOver: true };
  let { sentAt } = delivery;
  for (const entry of entries.filter(({ id }) => id > after)) {
    const sent = await (sentAt === 0 ? postFirst : post)(connectionId, entry);
    if (!sent) return undefined;
    sentAt = Date.now();
  }
  if (isOver && (!log || log.isComplete)) {
    await hang(connectionId);
    return undefined;
  }
  if (sentAt > 0 && Date.now() - sentAt > keepAliveMs) {
    if (!(await post(connectionId, { ...nothing, created_at: new Date().toISOString() }))) return undefined;
    sentAt = Date.now();
  }
  return { ...delivery, cursor, sentAt };
};

const deliver = async (first: Delivery, { getRemainingTimeInMillis, functionName }: Context): Promise<void> => {
  let delivery: Delivery | undefined = first;
  const startedAt = Date.now();
  for (let pause = shortestPauseMs; delivery; ) {
    const before: Delivery = delivery;
    delivery = await deliverOnce(before);
    if (!delivery) return;
    const longest = Date.now() - startedAt < eagerForMs ? eagerPauseMs : longestPauseMs;
    pause = isSame(delivery.cursor, before.cursor) ? Math.min(longest, pause * 1.3) : shortestPauseMs;
    if (getRemainingTimeInMillis() < enoughMs) return invokeLater(functionName, delivery);
    await sleep(pause);
  }
};

export const handler = async (event: Connect | Delivery, context: Context): Promise<unknown> => {
  if ('requestContext' in event) return connect(event, context.functionName);
  try {
    return await deliver(event, context);
  } catch (error) {
    // Otherwise the client would wait forever for the end of the log.
    logError('log not delivered', error, { job: event.jobId });
    await hang(event.connectionId).catch(() => {});
    return undefined;
  }
};
