import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Compares texts in constant time. */
export const isSame = (given: string, wanted: string): boolean => {
  const [a, b] = [given, wanted].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
};

/** `X-Hub-Signature-256` of GitHub, Gitea and Forgejo. */
export const isHmacSigned = (given: string | undefined, body: string, secret: string): boolean => {
  const hmac = createHmac('sha256', secret).update(body, 'utf8').digest('hex');
  return isSame(given ?? '', `sha256=${hmac}`);
};
