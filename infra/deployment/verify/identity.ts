import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';

/** A party that trusts the platform: uses only discovery, as clouds do (OpenID Connect Discovery 1.0, RFC 7515). */

type Document = Record<string, unknown>;

const fetched = async (url: string): Promise<Document> => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return (await answer.json()) as Document;
};

const decoded = (part: string): Document => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Document;

/**
 * Verifies a token and returns its claims.
 * @param read gets a JSON document by its URL
 * @throws {Error} why the token is not valid
 */
export const verifyIdentity = async (
  token: string,
  { issuer, audience, read = fetched }: { issuer: string; audience: string; read?: typeof fetched },
): Promise<Document> => {
  const discovery = await read(`${issuer}/.well-known/openid-configuration`);
  if (discovery.issuer !== issuer) throw new Error(`discovery names the issuer ${String(discovery.issuer)}`);
  const { keys } = (await read(String(discovery.jwks_uri))) as { keys: (JsonWebKey & { kid: string })[] };
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  const { alg, kid, typ } = decoded(head);
  if (more.length || alg !== 'RS256' || typ !== 'JWT') throw new Error(`not a token: ${String(alg)} ${String(typ)}`);
  const key = keys.find((one) => one.kid === kid);
  if (!key) throw new Error(`no key ${String(kid)}`);
  const publicKey = createPublicKey({ key, format: 'jwk' });
  if (!verify('RSA-SHA256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong');
  const claims = decoded(body);
  const now = Date.now() / 1000;
  if (claims.iss !== issuer || claims.aud !== audience) throw new Error(`it is for ${String(claims.aud)}`);
  if (Number(claims.nbf) > now || Number(claims.exp) <= now) throw new Error('it is not valid now');
  return claims;
};
