import { createHash } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { callKms } from '#platform/store/aws.ts';
import type { Claims } from './claims.ts';
import { keyIdOf } from './key-id.ts';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JSON Web Token in compact form, RS256 (RFC 7515). One KMS request; the private key never leaves KMS. */
export const signToken = async (claims: Claims): Promise<string> => {
  const [keyArn = ''] = environment.identityKeyArns;
  const content = `${encoded({ typ: 'JWT', alg: 'RS256', kid: keyIdOf(keyArn) })}.${encoded(claims)}`;
  const { Signature } = await callKms<{ Signature: string }>('Sign', {
    KeyId: keyArn,
    // KMS accepts messages of at most 4 KB.
    MessageType: 'DIGEST',
    Message: createHash('sha256').update(content).digest('base64'),
    SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
  });
  return `${content}.${Buffer.from(Signature, 'base64').toString('base64url')}`;
};
