import * as v from 'valibot';
import { clientId, isTerraformHere } from '#api/login-service.ts';

/** Who wants a token at the end of a sign-in. Both show at the exchange that they are who asked (PKCE, RFC 7636). */

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

/** The web page of this platform, which is told nothing but where it is anyway. */
const pageRequest = v.object({ client_id: v.literal('page'), ...challenge });

export const authorizationRequest = v.variant('client_id', [terraformRequest, pageRequest]);
export type AuthorizationRequest = v.InferOutput<typeof authorizationRequest>;

/** What a code is bound to beside its verifier. */
export const redirectUriOf = (request: AuthorizationRequest): string =>
  request.client_id === 'page' ? request.client_id : request.redirect_uri;
