import * as v from 'valibot';
import { clientId, isTerraformHere } from '#api/login-service.ts';

/**
 * The client that receives a token at the end of a sign-in. When it exchanges its code for the token, it proves that it
 * began the sign-in (PKCE, RFC 7636).
 */

const challenge = {
  code_challenge: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  code_challenge_method: v.literal('S256'),
};

/** The authorization request of `terraform login`. */
export const terraformRequest = v.object({
  client_id: v.literal(clientId),
  response_type: v.literal('code'),
  // Any other redirect URI could steal the code.
  redirect_uri: v.pipe(v.string(), v.check(isTerraformHere)),
  ...challenge,
  state: v.pipe(v.string(), v.maxLength(500)),
});

/** The web page of this platform, whose redirect URI is fixed. */
const pageRequest = v.object({ client_id: v.literal('page'), ...challenge });

export const authorizationRequest = v.variant('client_id', [terraformRequest, pageRequest]);
export type AuthorizationRequest = v.InferOutput<typeof authorizationRequest>;

/** Value to which a code is bound, in addition to its verifier. */
export const redirectUriOf = (request: AuthorizationRequest): string =>
  request.client_id === 'page' ? request.client_id : request.redirect_uri;
