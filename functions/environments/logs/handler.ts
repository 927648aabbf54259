import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { environment } from '#platform/environment.ts';
import { callConnection, invokeLater } from '#platform/store/aws.ts';
import { logError } from '#platform/store/log.ts';
import { isSame, readEntries } from './entries.ts';
import { addFollower, claim, type Follower, followersOf, jobOf, release, removeFollower } from './followers.ts';
import { jobLog } from './jobs.ts';
import { redeemTicket } from './tickets.ts';

/**
 * Sends logs through the WebSocket API. It is invoked when lines have arrived, and ends when they are sent: a follower
 * who waits for lines occupies no function (decisions/0233). `$connect` is answered at once, and an asynchronous call
 * sends the log so far, because no message can be sent to a connection before it is open.
 */

interface Connect {
  requestContext: { routeKey: string; connectionId: string };
  queryStringParameters?: Record<string, string>;
}

/** The log of a job may have new lines, or be complete. */
interface Push {
  /** As in `Run.environment`. */
  job: string;
}

/** When less than this remains of the function's time, another call continues. */
const enoughMs = 20_000;
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
  await addFollower(ticket, requestContext.connectionId);
  await invokeLater(self, { job: jobOf(ticket) } satisfies Push);
  return { statusCode: 200 };
};

/** The first command to a connection, repeated until it is open; false when the client did not connect. */
const first = async (command: () => Promise<boolean>): Promise<boolean> => {
  const end = Date.now() + connectingMs;
  for (let pause = 10; Date.now() < end; pause *= 2) {
    if (await command()) return true;
    await sleep(pause);
  }
  return false;
};

/** Sends all new entries while there is time; undefined when the client has disconnected, or the log is complete. */
const sendNew = async (follower: Follower, hasTime: () => boolean): Promise<Follower | undefined> => {
  const { connectionId, kind, jobId } = follower;
  let { after, cursor, sentAt } = follower;
  const send = (command: () => Promise<boolean>) => (sentAt === 0 ? first(command) : command());
  for (;;) {
    // Completion is read before the log, so a complete log is read to its end.
    const log = (await jobLog(kind, jobId)) ?? { parts: [], isComplete: true };
    const read = await readEntries(log.parts, cursor, true);
    for (const entry of read.entries.filter(({ id }) => id > after)) {
      if (!hasTime()) return { ...follower, after, cursor, sentAt };
      if (!(await send(() => post(connectionId, entry)))) return undefined;
      after = entry.id;
      sentAt = Date.now();
    }
    if (read.isOver && log.isComplete) {
      await send(() => hang(connectionId));
      return undefined;
    }
    if (isSame(read.cursor, cursor)) break;
    cursor = read.cursor;
  }
  // Also at once for a client who has all entries: it may have to wait for the next one for a long time.
  if (Date.now() - sentAt > keepAliveMs) {
    const alive = { ...nothing, created_at: new Date().toISOString() };
    if (!(await send(() => post(connectionId, alive)))) return undefined;
    sentAt = Date.now();
  }
  return { ...follower, after, cursor, sentAt };
};

/** @returns whether time ran out before everything was sent */
const deliver = async (to: Follower, hasTime: () => boolean): Promise<boolean> => {
  let follower = await claim(to);
  while (follower) {
    const sent = await sendNew(follower, hasTime);
    if (!sent) {
      await removeFollower(follower);
      return false;
    }
    if (!hasTime()) {
      await release(sent, { even: true });
      return true;
    }
    follower = await release(sent);
  }
  return false;
};

/** Otherwise the client would wait forever for the end of the log. */
const giveUp = async (follower: Follower, error: unknown): Promise<boolean> => {
  logError('log not delivered', error, { job: jobOf(follower) });
  await hang(follower.connectionId).catch(() => {});
  await removeFollower(follower);
  return false;
};

export const handler = async (event: Connect | Push, context: Context): Promise<unknown> => {
  if ('requestContext' in event) return connect(event, context.functionName);
  const hasTime = () => context.getRemainingTimeInMillis() > enoughMs;
  const followers = await followersOf(event.job);
  const late = await Promise.all(followers.map((one) => deliver(one, hasTime).catch((error) => giveUp(one, error))));
  if (late.includes(true)) await invokeLater(context.functionName, event);
  return undefined;
};
