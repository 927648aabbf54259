import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { environment } from '#platform/environment.ts';
import { logError } from '#platform/store/log.ts';
import { claimNames } from './claims.ts';
import { keySet } from './keys.ts';

/**
 * Public documents for verifiers of workload identity tokens (OpenID Connect Discovery 1.0), the same for every
 * caller. The issuer is the platform's public URL, as in the tokens, even if the request used another host name.
 */

/** A new key is published this long before it is used to sign (infra/settings/settings.ts). */
const maxAgeSeconds = 900;

const discovery = () => {
  const issuer = environment.publicUrl;
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    scopes_supported: ['openid'],
    claims_supported: claimNames,
  };
};

const documents: Record<string, () => unknown> = {
  '/.well-known/openid-configuration': discovery,
  '/.well-known/jwks': keySet,
};

const json = (statusCode: number, cacheControl: string, body: unknown): APIGatewayProxyStructuredResultV2 => ({
  statusCode,
  headers: {
    'content-type': 'application/json',
    'cache-control': cacheControl,
    'x-content-type-options': 'nosniff',
  },
  body: JSON.stringify(body),
});

export const handler = async ({ rawPath }: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
  const document = Object.hasOwn(documents, rawPath) ? documents[rawPath] : undefined;
  if (!document) return json(404, 'no-store', { error: 'document not found' });
  try {
    return json(200, `public, max-age=${maxAgeSeconds}`, await document());
  } catch (error) {
    logError('reading the signing keys failed', error);
    return json(503, 'no-store', { error: 'the signing keys are unavailable; try again' });
  }
};
