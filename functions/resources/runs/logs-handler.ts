import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Answer, standardHeaders } from '#api/answer.ts';
import { environment } from '#platform/environment.ts';
import { acceptsGzip } from '#platform/net/encodings.ts';
import { logError } from '#platform/store/log.ts';
import type { PhaseName, Run } from '#run/run.ts';
import { opensLog } from './log-links.ts';
import { type LogPart, readLogPart } from './logs.ts';
import { getRunEventually } from './records.ts';

/**
 * `GET /logs/{runId}/{plan|apply}/{secret}?limit=&offset=`: bytes of a log. The last part of the path authorizes the
 * request (log-links.ts). The command line sends no token here, and aborts at any 429 or 5xx, so internal failures
 * return an empty response instead.
 */

/** The command line requests this many bytes, and accepts no more. */
const usualBytes = 65_536;
/** The web page reads long logs in larger pieces. */
const maxBytes = 1_048_576;

const bytesAnswer = (
  statusCode: number,
  bytes: Buffer = Buffer.alloc(0),
  headers: Record<string, string> = {},
): Answer => ({
  statusCode,
  headers: { ...standardHeaders, 'content-type': 'text/plain', ...headers },
  isBase64Encoded: true,
  body: bytes.toString('base64'),
});

/**
 * `x-log-size` is the size of a log in bytes, so that a reader can begin at its end: of a stored one, and of a growing
 * one as far as it is written, with long parts before its end. Only long pieces are
 * compressed: Terraform reads a response once, and would get less of it per request.
 */
const answerWith = ({ bytes, size }: LogPart, compresses: boolean): Answer => {
  const headers: Record<string, string> = size === undefined ? {} : { 'x-log-size': String(size) };
  if (bytes.length <= usualBytes || !compresses) return bytesAnswer(200, bytes, headers);
  return bytesAnswer(200, gzipSync(bytes), { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' });
};

const form = /^\/logs\/(run-[A-Za-z0-9]{16})\/(plan|apply)\/([\w.-]{20,100})$/;

/** Logs are shorter, and the keys of their pieces cannot hold larger offsets. */
const maxOffset = 10_000_000_000;

/** Uses the default for anything but a non-negative integer. */
const numberIn = (event: APIGatewayProxyEventV2, name: string, otherwise: number): number => {
  const text = event.queryStringParameters?.[name] ?? '';
  return /^\d+$/.test(text) ? Math.min(Number(text), maxOffset) : otherwise;
};

/** Initial pause between reads of new output; it grows while the log is silent. */
const firstPauseMs = 40;
const maxPauseMs = 200;
const pauseGrowth = 1.3;

/**
 * Terraform's command line polls every 0.5 to 2 seconds. Waiting here for new output shows it without that delay
 * (docs/performance.md).
 */
const readNext = async (run: Run, phase: PhaseName, offset: number, limit: number): Promise<LogPart> => {
  const end = Date.now() + environment.logWaitMs;
  let pause = firstPauseMs;
  for (let now: Run | undefined = run; now; now = await getRunEventually(run.id)) {
    const part = await readLogPart(now, phase, offset, limit);
    if (part.bytes.length > 0 || now[phase].status !== 'running' || Date.now() >= end) return part;
    await sleep(pause);
    pause = Math.min(maxPauseMs, pause * pauseGrowth);
  }
  return { bytes: Buffer.alloc(0), size: undefined };
};

export const handler = async (event: APIGatewayProxyEventV2): Promise<Answer> => {
  const [, runId, phase, secret] = form.exec(event.rawPath) ?? [];
  if (!runId || !phase || !secret) return bytesAnswer(404);
  try {
    // Eventually consistent, because readers of a growing log poll again soon.
    const run = await getRunEventually(runId);
    if (!run || !opensLog(run, phase as PhaseName, secret)) return bytesAnswer(404);
    const limit = Math.min(maxBytes, Math.max(1, numberIn(event, 'limit', usualBytes)));
    const part = await readNext(run, phase as PhaseName, numberIn(event, 'offset', 0), limit);
    return answerWith(part, acceptsGzip(event.headers['accept-encoding']));
  } catch (error) {
    logError('reading a log failed', error, { runId, phase });
    return bytesAnswer(200);
  }
};
