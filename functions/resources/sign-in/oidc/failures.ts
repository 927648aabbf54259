import * as oauth from 'oauth4webapi';
import type { OidcSettings } from '#platform/environment.ts';
import { OutboundError } from '#platform/net/outbound/errors.ts';
import { logWarning } from '#platform/store/log.ts';
import { SignInError } from '../errors.ts';
import { forgetClientSecret, issuerName } from './settings.ts';

/** Messages for failures between this platform and the issuer, shown to the user who signs in. */

const again = 'Sign in again.';
const operator = 'If it keeps failing, tell the operator of this platform. Until then, sign in with an API token.';

/** Errors of the authorization endpoint (RFC 6749 §4.1.2.1, OpenID Connect Core 1.0 §3.1.2.6). */
const refusals: Record<string, string> = {
  access_denied: 'denied access, or you canceled there',
  login_required: 'requires you to sign in there first',
  interaction_required: 'requires you to sign in there first',
  consent_required: 'requires your consent there first',
  temporarily_unavailable: 'is temporarily unable to sign users in',
  server_error: 'failed to sign you in',
};

const codeOf = (error: unknown): string | undefined => (error as { code?: string }).code;

const reasonText = (description: string | undefined): string =>
  description ? ` Its message: ${description.slice(0, 300)}` : '';

/** Logs without the issuer's response, which can contain tokens. */
const note = (error: unknown, { issuer }: OidcSettings): void => {
  const { name, message } = error as Error;
  logWarning('sign-in failed', { issuer, error: `${name}: ${message}`, code: codeOf(error) });
};

const invalid = (name: string, why: string): SignInError =>
  new SignInError(502, `The response of ${name} was rejected: ${why}. ${again} ${operator}`);

/** @returns the error to throw */
export const readableFailure = (error: unknown, settings: OidcSettings): SignInError => {
  if (error instanceof SignInError) return error;
  const name = issuerName(settings);
  note(error, settings);
  if (error instanceof OutboundError) {
    return new SignInError(502, `${name} (${settings.issuer}) cannot be reached: ${error.message}. ${operator}`);
  }
  if (error instanceof oauth.AuthorizationResponseError) {
    const why = refusals[error.error] ?? `refused with "${error.error}"`;
    return new SignInError(
      error.error === 'access_denied' ? 403 : 400,
      `${name} ${why}.${reasonText(error.error_description)} ${again}`,
    );
  }
  if (error instanceof oauth.ResponseBodyError) return ofTokenEndpoint(error, name);
  if (error instanceof oauth.WWWAuthenticateChallengeError) return unknownClient(name);
  switch (codeOf(error)) {
    case oauth.JWT_TIMESTAMP_CHECK:
      return invalid(name, 'it is too old, or its clock and the clock of this platform differ by more than a minute');
    case oauth.JWT_CLAIM_COMPARISON:
      return invalid(name, 'it comes from another issuer, or was issued for another platform or sign-in');
    case oauth.KEY_SELECTION:
      return invalid(name, 'it is signed with a key that the issuer has not published');
    case oauth.RESPONSE_IS_NOT_CONFORM:
    case oauth.RESPONSE_IS_NOT_JSON:
    case oauth.JSON_ATTRIBUTE_COMPARISON:
      return new SignInError(
        502,
        `${settings.issuer} does not respond like an OpenID Connect issuer: it is down, or the address is wrong. ${operator}`,
      );
    default:
      return invalid(name, (error as Error).message);
  }
};

const unknownClient = (name: string, description?: string): SignInError => {
  // The secret may have been replaced.
  forgetClientSecret();
  return new SignInError(
    502,
    `${name} rejected this platform's client id and secret.${reasonText(description)} ${operator}`,
  );
};

/** Errors of the token endpoint (RFC 6749 §5.2). */
const ofTokenEndpoint = (
  { error, error_description: description }: oauth.ResponseBodyError,
  name: string,
): SignInError => {
  if (error === 'invalid_grant') {
    return new SignInError(400, `The authorization code of ${name} has expired or was already used. ${again}`);
  }
  if (error === 'invalid_client' || error === 'unauthorized_client') return unknownClient(name, description);
  return new SignInError(502, `${name} refused with "${error}".${reasonText(description)} ${operator}`);
};
