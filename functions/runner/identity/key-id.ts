import { createHash } from 'node:crypto';

/**
 * `kid` of a key of KMS. From its ARN, so that who signs need not ask for the public key: what is behind the ARN of an
 * asymmetric key never changes.
 */
export const keyIdOf = (keyArn: string): string => createHash('sha256').update(keyArn).digest('base64url');
