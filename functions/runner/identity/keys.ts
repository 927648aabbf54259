import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import { callKms } from '#platform/store/aws.ts';
import { keyIdOf } from './key-id.ts';

/** Cached for the lifetime of the function's instance, because a key never changes. Failures are not cached. */
const publicKeys = new Map<string, JsonWebKey>();

const publicKey = async (keyArn: string): Promise<JsonWebKey> => {
  const before = publicKeys.get(keyArn);
  if (before) return before;
  const { PublicKey } = await callKms<{ PublicKey: string }>('GetPublicKey', { KeyId: keyArn });
  const key = createPublicKey({ key: Buffer.from(PublicKey, 'base64'), format: 'der', type: 'spki' });
  const { kty, n, e } = key.export({ format: 'jwk' });
  const described = { kty, n, e, use: 'sig', alg: 'RS256', kid: keyIdOf(keyArn) };
  publicKeys.set(keyArn, described);
  return described;
};

/** The JSON Web Key Set (RFC 7517): the current signing key, the next ones and the previous ones. */
export const keySet = async (): Promise<{ keys: JsonWebKey[] }> => ({
  keys: await Promise.all(environment.identityKeyArns.map(publicKey)),
});
