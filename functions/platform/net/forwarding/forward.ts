import { setTimeout as delay } from 'node:timers/promises';
import { getObject, presignUpload } from '#platform/store/bucket.ts';
import { newId } from '#platform/store/id.ts';
import { objects } from '#platform/store/keys.ts';
import { OutboundError } from '../outbound/errors.ts';
import { defaultLimits, type OutboundAnswer, type OutboundLimits, type OutboundRequest } from '../outbound/send.ts';
import { openAnswer, sealFor } from './box.ts';
import { type ForwardedAnswer, type ForwardedRequest, unpackAnswer } from './messages.ts';
import { addRequest, listForwarders, readAnswer } from './records.ts';

/**
 * Requests to addresses that only agents can reach: an agent of the pool sends them, with the behavior of
 * platform/net/outbound/send.ts. The agent's operator decides which addresses are allowed.
 */

/** An idle agent polls every five seconds, and an agent that has just ended counts as alive for a while. */
const takenMs = 15_000;
const firstPauseMs = 100;
const maxPauseMs = 1_000;
const pauseGrowth = 1.3;

const none = () =>
  new OutboundError(
    'unreachable',
    'no agent of its agent pool forwards requests. Start one: stepform agent --forward-to <origin>',
  );

/** @throws {OutboundError} */
const forward = async (poolId: string, request: ForwardedRequest): Promise<ForwardedAnswer> => {
  const agents = await listForwarders(poolId);
  if (agents.length === 0) throw none();
  const id = newId('fwd');
  const { sealed, key } = sealFor(agents, id, JSON.stringify(request));
  const until = Date.now() + takenMs + request.totalMs;
  await addRequest(poolId, { id, ...sealed, until: new Date(until).toISOString() });
  for (let pause = firstPauseMs; Date.now() < until; pause = Math.min(maxPauseMs, pause * pauseGrowth)) {
    await delay(Math.min(pause, Math.max(1, until - Date.now())));
    const box = await readAnswer(poolId, id);
    if (!box) continue;
    const answer = unpackAnswer(openAnswer(key, id, box));
    if ('failure' in answer) throw new OutboundError(answer.failure, answer.message);
    return answer;
  }
  throw new OutboundError('timeout', 'no agent of its agent pool answered in time');
};

/** Like `send` of platform/net/outbound/send.ts, through an agent of the pool. @throws {OutboundError} */
export const sendThrough = async (
  poolId: string,
  { method, url, headers, body }: OutboundRequest,
  limits: Partial<OutboundLimits> = {},
): Promise<OutboundAnswer> => {
  const { totalMs, maxBytes } = { ...defaultLimits, ...limits };
  const text = body === undefined ? {} : { body: Buffer.from(body).toString('utf8') };
  return forward(poolId, { method, url, headers, ...text, totalMs, maxBytes });
};

export interface Downloaded {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: AsyncIterable<Uint8Array>;
}

const uploadSeconds = 900;
const downloadMs = 5 * 60_000;
const pieceBytes = 8 * 1024 * 1024;

async function* piecesOf(key: string): AsyncGenerator<Uint8Array> {
  for (let from = 0; ; ) {
    const piece = await getObject(key, { from, length: pieceBytes });
    if (!piece?.length) return;
    yield piece;
    from += piece.length;
  }
}

/**
 * Like `download` of platform/net/outbound/download.ts: the agent uploads the body to storage, where it expires in a
 * week. @throws {OutboundError}
 */
export const downloadThrough = async (
  poolId: string,
  { url, headers }: { url: string; headers: Record<string, string> },
  maxBytes: number,
): Promise<Downloaded> => {
  const name = newId('fwd');
  const uploadUrl = await presignUpload(name, uploadSeconds);
  const answer = await forward(poolId, { method: 'GET', url, headers, totalMs: downloadMs, maxBytes, uploadUrl });
  return { status: answer.status, headers: answer.headers, body: piecesOf(objects.upload(name)) };
};
