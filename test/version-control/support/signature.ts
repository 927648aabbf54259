import { createHmac } from 'node:crypto';

/** GitHub's signature of a webhook's body. */
export const signature = (body: string, secret: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
