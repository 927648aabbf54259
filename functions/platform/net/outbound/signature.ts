import { createHmac } from 'node:crypto';

/** Lower-case hex HMAC-SHA512 of the exact bytes sent (HCP API: notification configurations). */
export const signatureOf = (body: Buffer, key: string): string => createHmac('sha512', key).update(body).digest('hex');
