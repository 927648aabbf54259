import { type Answer, redirect } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import type { Attempt } from '../attempt.ts';
import { upFrom } from '../hand-over.ts';
import { SamlError } from './error.ts';
import { saml } from './way.ts';

/**
 * A response that no browser asked for: the user began at the identity provider. It is not used, because any site
 * could post an attacker's own into a victim's browser. The page begins a sign-in of its own instead, which the identity provider
 * answers without a question, as the user has a session there (decisions/0273).
 */

/** A view of the page within this platform; RelayState can come from any site. */
const viewIn = (relayState: string | null): string => {
  const [, path = ''] = /^\/?app(\/[\w./~%-]*)?$/.exec(relayState ?? '') ?? [];
  return path.split('/').some((part) => /^(\.|%2e){1,2}$/i.test(part)) ? '' : path.replaceAll(/\/{2,}/g, '/');
};

/** @throws {SamlError} if this browser waits for the answer to its own request, which would begin without end */
export const replyTo = (request: ApiRequest, relayState: string | null, attempt: Attempt | undefined): Answer => {
  if (attempt) throw new SamlError('it does not name the request that it answers (InResponseTo)');
  const begin = new URLSearchParams({ 'sign-in': saml.path });
  return redirect(303, `${upFrom(request)}app${viewIn(relayState)}#${begin}`);
};
