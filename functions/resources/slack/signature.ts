import { createHmac } from 'node:crypto';
import { isSame } from '#platform/store/id.ts';

/**
 * Signature of Slack's requests (Slack: verifying requests from Slack): `v0=` and the lower-case hex HMAC-SHA256 of
 * `v0:<timestamp>:<raw body>`.
 */

/** Slack's own tolerance for the age of a request. */
const toleranceSeconds = 300;

interface Signed {
  timestamp: string;
  signature: string;
  body: Buffer;
}

export const isSignedBySlack = ({ timestamp, signature, body }: Signed, secret: string, nowMs: number): boolean => {
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceSeconds) return false;
  const hmac = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest('hex');
  return isSame(signature, `v0=${hmac}`);
};
