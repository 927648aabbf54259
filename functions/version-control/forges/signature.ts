import { createHmac } from 'node:crypto';
import { isSame } from '#platform/store/id.ts';

/** `X-Hub-Signature-256` of GitHub, Gitea and Forgejo. */
export const isHmacSigned = (given: string | undefined, body: string, secret: string): boolean => {
  const hmac = createHmac('sha256', secret).update(body, 'utf8').digest('hex');
  return isSame(given ?? '', `sha256=${hmac}`);
};
