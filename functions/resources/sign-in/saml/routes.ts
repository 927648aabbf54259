import { type Answer, redirect } from '#api/answer.ts';
import type { ApiRequest } from '#api/request.ts';
import { openRoute, type Route } from '#api/route.ts';
import { environment } from '#platform/environment.ts';
import { logWarning } from '#platform/store/log.ts';
import type { Person } from '#resources/users/person.ts';
import { type Attempt, beginAttempt, cookieName, readAttempt } from '../attempt.ts';
import { SignInError } from '../errors.ts';
import { handOver, inWords, isSecure, requestIn } from '../hand-over.ts';
import { checkPerson } from '../people.ts';
import { acsUrl, metadataUrl } from './addresses.ts';
import { SamlError } from './error.ts';
import { metadataAnswer } from './metadata.ts';
import { useOnce } from './replay.ts';
import { requestUrl } from './request.ts';
import { checkAssertion } from './response/checks.ts';
import { checkStatus, type Message, readMessage, signedAssertion } from './response/open.ts';
import { personIn } from './response/person.ts';
import { certificatesIn } from './settings/certificates.ts';
import { getSettings, openKey, type SamlSettings, samlName, usableSettings } from './settings/records.ts';
import { replyTo } from './unsolicited.ts';

/**
 * Sign-in with SAML 2.0 (web browser SSO profile): the request goes in the address of the identity provider, its
 * response comes as a form that the browser posts. The request's ID is derived from the cookie of the browser that
 * began (attempt.ts), so that no other browser can use the response.
 */

const settingsNeeded = async (): Promise<SamlSettings> => {
  const settings = await usableSettings();
  if (settings) return settings;
  throw new SignInError(403, 'Sign-in with SAML is not enabled on this platform. Sign in with an API token.');
};

const begin = async (request: ApiRequest): Promise<Answer> => {
  const settings = await settingsNeeded();
  // The form is posted by a page of the identity provider.
  const { cookie, requestId } = beginAttempt(requestIn(request), { secure: isSecure(request), sameSite: 'None' });
  const key = settings.authnRequestsSigned ? await openKey(settings) : undefined;
  return { ...redirect(302, requestUrl(settings, requestId, key)), cookies: [cookie] };
};

const elsewhere = `This sign-in was started in another browser or at another address than this one, is finished, or is older than ten minutes. Sign in again.`;

const personFrom = async (message: Message, settings: SamlSettings, { requestId }: Attempt): Promise<Person> => {
  checkStatus(message);
  const certificates = [settings.idpCert, settings.oldIdpCert].flatMap(certificatesIn);
  const assertion = await signedAssertion(message, {
    certificates: certificates.map(String),
    key: message.text.includes('EncryptedAssertion') ? await openKey(settings) : undefined,
    wantAssertionsSigned: settings.wantAssertionsSigned,
  });
  const issuer = settings.idpEntityId || undefined;
  const expected = { audience: metadataUrl(), recipient: acsUrl(), issuer, requestId };
  const checked = checkAssertion(assertion, message, expected);
  const person = personIn(assertion, checked, settings);
  checkPerson(person, samlName(settings));
  await useOnce(checked);
  return person;
};

/** A refused message as words for the user. */
const readable = (error: unknown, settings: SamlSettings, posted: string): unknown => {
  if (!(error instanceof SamlError)) return error;
  const name = samlName(settings);
  logWarning('sign-in failed', { issuer: name, error: error.message });
  const text = `The response of ${name} was rejected: ${error.message}. Sign in again. If it keeps failing, tell the operator of this platform. Until then, sign in with an API token.`;
  return new SignInError(502, text, settings.debug ? Buffer.from(posted, 'base64').toString('utf8') : undefined);
};

const receive = async (request: ApiRequest): Promise<Answer> => {
  const settings = await settingsNeeded();
  const form = request.form();
  const posted = form.get('SAMLResponse') ?? '';
  const attempt = readAttempt(request.cookie(cookieName(isSecure(request))));
  try {
    const message = readMessage(posted);
    if (message.inResponseTo === undefined) return replyTo(request, form.get('RelayState'), attempt);
    if (attempt?.requestId !== message.inResponseTo) throw new SignInError(400, elsewhere);
    return await handOver(request, attempt, await personFrom(message, settings, attempt));
  } catch (error) {
    throw readable(error, settings, posted);
  }
};

/** Also before SAML is enabled, because the identity provider is set up with it. */
const showMetadata = async (): Promise<Answer> => {
  if (environment.organizationRules.samlAdministrators === undefined) await settingsNeeded();
  return metadataAnswer(await getSettings());
};

/** Maximum size of a form with a response, in bytes: base64, percent-encoded. */
const maxBytes = 512 * 1024;

export const samlRoutes: Route[] = [
  openRoute('GET', '/users/saml/sign-in', 'anyone', inWords(begin)),
  { ...openRoute('POST', '/users/saml/auth', 'anyone', inWords(receive)), maxBytes },
  openRoute('GET', '/users/saml/metadata', 'anyone', inWords(showMetadata)),
];
