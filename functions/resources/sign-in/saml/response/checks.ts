import type { XmlElement } from '@xmldom/xmldom';
import { SamlError } from '../error.ts';
import { attributeOf, childrenOf, isNamed, listOf, neededOf, oneOf, textIn } from '../xml/parse.ts';
import { isSignedResponse, type Message } from './open.ts';

/**
 * Whether a signed assertion is for this platform, this browser and this time (SAML 2.0 profiles §4.1.4.3, core §2.5).
 * A condition that is not known refuses the assertion.
 */

interface Expected {
  /** Entity id of this platform. */
  audience: string;
  /** URL that received the response. */
  recipient: string;
  /** Entity id of the identity provider; undefined if the site administrator entered none. */
  issuer: string | undefined;
  /** ID of the request that this browser began. */
  requestId: string;
}

/** Tolerance for clock skew. */
export const toleranceMs = 60_000;

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** A time attribute in ms; undefined if it is absent. @throws {SamlError} */
const timeOf = (element: XmlElement, name: string): number | undefined => {
  const text = attributeOf(element, name);
  if (text === undefined) return undefined;
  const time = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new SamlError(`its ${name} is not a time in UTC`);
  return time;
};

const checkTime = (element: XmlElement): void => {
  const now = Date.now();
  const [from, until] = [timeOf(element, 'NotBefore'), timeOf(element, 'NotOnOrAfter')];
  if (from !== undefined && now < from - toleranceMs)
    throw new SamlError('it is not valid yet: the clocks of both sides differ by more than a minute');
  if (until !== undefined && now >= until + toleranceMs)
    throw new SamlError('it is too old, or the clocks of both sides differ by more than a minute');
};

const checkVersion = (element: XmlElement): void => {
  if (attributeOf(element, 'Version') !== '2.0') throw new SamlError('it is not of SAML 2.0');
};

const issuerOf = (element: XmlElement): string | undefined => {
  const issuer = oneOf(element, 'assertion', 'Issuer');
  return issuer && textIn(issuer);
};

/** @returns entity id of the identity provider */
const checkIssuer = (assertion: XmlElement, { response }: Message, { issuer }: Expected): string => {
  const stated = issuerOf(assertion);
  if (!stated) throw new SamlError('its assertion has no issuer');
  if ((issuerOf(response) ?? stated) !== stated) throw new SamlError('response and assertion have different issuers');
  if (issuer && stated !== issuer) throw new SamlError('it comes from another identity provider');
  return stated;
};

/** The response's own attributes are signed only with it, but a wrong one is never right. */
const checkResponse = (message: Message, { recipient, requestId }: Expected): void => {
  const { response, inResponseTo } = message;
  checkVersion(response);
  const destination = attributeOf(response, 'Destination');
  if (destination === undefined && isSignedResponse(message)) throw new SamlError('it has no destination');
  if (destination !== undefined && destination !== recipient) throw new SamlError('it was sent to another address');
  if (inResponseTo !== requestId) throw new SamlError('it answers another sign-in');
};

/** @returns end of the time in which the assertion can be used, in ms */
const checkSubject = (subject: XmlElement, { recipient, requestId }: Expected): number => {
  const bearers = listOf(subject, 'assertion', 'SubjectConfirmation').filter(
    (confirmation) => attributeOf(confirmation, 'Method') === 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
  );
  const [bearer, another] = bearers;
  if (!bearer || another) throw new SamlError('its assertion does not have exactly one bearer confirmation');
  const data = neededOf(bearer, 'assertion', 'SubjectConfirmationData');
  if (attributeOf(data, 'Recipient') !== recipient) throw new SamlError('its assertion is for another recipient');
  if (attributeOf(data, 'InResponseTo') !== requestId) throw new SamlError('its assertion answers another sign-in');
  const until = timeOf(data, 'NotOnOrAfter');
  if (until === undefined) throw new SamlError('its assertion does not say how long it can be used');
  checkTime(data);
  return until;
};

const checkConditions = (conditions: XmlElement, { audience }: Expected): void => {
  checkTime(conditions);
  const known = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction'];
  const unknown = childrenOf(conditions).find((one) => !known.some((name) => isNamed(one, 'assertion', name)));
  if (unknown) throw new SamlError(`its assertion has the unknown condition ${unknown.localName}`);
  const restrictions = listOf(conditions, 'assertion', 'AudienceRestriction');
  if (restrictions.length === 0) throw new SamlError('its assertion names no audience');
  for (const restriction of restrictions) {
    const audiences = listOf(restriction, 'assertion', 'Audience').map(textIn);
    if (!audiences.includes(audience)) throw new SamlError('its assertion was issued for another service');
  }
};

/** @returns end of the session at the identity provider in ms, if it named one */
const checkStatements = (assertion: XmlElement): number | undefined => {
  const statements = listOf(assertion, 'assertion', 'AuthnStatement');
  if (statements.length === 0) throw new SamlError('its assertion is not about a sign-in');
  const ends = statements.flatMap((statement) => timeOf(statement, 'SessionNotOnOrAfter') ?? []);
  if (ends.some((end) => Date.now() >= end + toleranceMs)) throw new SamlError('the session there has ended');
  return ends.length > 0 ? Math.min(...ends) : undefined;
};

export interface Checked {
  issuer: string;
  assertionId: string;
  subject: XmlElement;
  /** In ms. */
  usableUntil: number;
  sessionEnd: number | undefined;
}

/** @throws {SamlError} */
export const checkAssertion = (assertion: XmlElement, message: Message, expected: Expected): Checked => {
  checkResponse(message, expected);
  checkVersion(assertion);
  const issuer = checkIssuer(assertion, message, expected);
  const subject = neededOf(assertion, 'assertion', 'Subject');
  const usableUntil = checkSubject(subject, expected);
  checkConditions(neededOf(assertion, 'assertion', 'Conditions'), expected);
  const sessionEnd = checkStatements(assertion);
  const assertionId = attributeOf(assertion, 'ID');
  if (!assertionId) throw new SamlError('its assertion has no ID');
  return { issuer, assertionId, subject, usableUntil, sessionEnd };
};
