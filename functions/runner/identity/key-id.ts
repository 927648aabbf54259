import { createHash } from 'node:crypto';

/**
 * `kid` of a KMS key, derived from its ARN, so that signing need not read the public key: the key material behind the
 * ARN of an asymmetric key never changes.
 */
export const keyIdOf = (keyArn: string): string => createHash('sha256').update(keyArn).digest('base64url');
