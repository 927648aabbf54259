import type { TaskPayload } from '#run/task-payload.ts';
import { OutboundError } from './errors.ts';
import { type OutboundLimits, send } from './send.ts';
import { signatureOf } from './signature.ts';

export interface TaskRequest {
  url: string;
  hmacKey: string | undefined;
  payload: TaskPayload;
  /** URL of this platform, by which the task recognizes the caller. */
  baseUrl: string;
}

/** Sends one request to a run task. @returns undefined after the response 200; otherwise the reason for users */
export const askTask = async (
  { url, hmacKey, payload, baseUrl }: TaskRequest,
  limits: Partial<OutboundLimits> = {},
): Promise<{ reason: string; final: boolean } | undefined> => {
  const body = Buffer.from(JSON.stringify(payload));
  const headers = {
    'content-type': 'application/json',
    'user-agent': `TFC/1.0 (+${baseUrl}; TFC)`,
    // Empty without a key.
    'x-tfc-task-signature': hmacKey ? signatureOf(body, hmacKey) : '',
  };
  try {
    const { status } = await send({ method: 'POST', url, headers, body }, limits);
    return status === 200 ? undefined : { reason: `it answered ${status} instead of 200`, final: false };
  } catch (error) {
    if (error instanceof OutboundError) return { reason: error.message, final: error.failure === 'forbidden' };
    throw error;
  }
};
