import type { XmlElement } from '@xmldom/xmldom';
import { SamlError } from '../error.ts';
import {
  attributeOf,
  childrenOf,
  elementsIn,
  isNamed,
  neededOf,
  oneOf,
  parseXml,
  textIn,
  withPlainLineEnds,
} from '../xml/parse.ts';
import { decrypted } from './decryption.ts';
import { isSignature, signedText } from './signature.ts';

/** From the posted text to the one assertion that the identity provider signed. */

/** The message as it came: nothing in it is trustworthy. */
export interface Message {
  text: string;
  response: XmlElement;
  inResponseTo: string | undefined;
}

/** @throws {SamlError} */
export const readMessage = (posted: string): Message => {
  if (!/^[A-Za-z0-9+/=\s]+$/.test(posted)) throw new SamlError('it is not encoded in base64');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(posted, 'base64'));
  } catch {
    throw new SamlError('it is not UTF-8');
  }
  text = withPlainLineEnds(text);
  const response = parseXml(text);
  if (!isNamed(response, 'protocol', 'Response')) throw new SamlError('it is not a SAML 2.0 response');
  return { text, response, inResponseTo: attributeOf(response, 'InResponseTo') };
};

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** @throws {SamlError} with the identity provider's own message */
export const checkStatus = ({ response }: Message): void => {
  const status = neededOf(response, 'protocol', 'Status');
  const code = neededOf(status, 'protocol', 'StatusCode');
  if (attributeOf(code, 'Value') === success) return;
  const inner = oneOf(code, 'protocol', 'StatusCode');
  const message = oneOf(status, 'protocol', 'StatusMessage');
  const name =
    attributeOf(inner ?? code, 'Value')
      ?.split(':')
      .at(-1) ?? 'unknown';
  const words = message ? `: ${textIn(message)}` : '';
  throw new SamlError(`the identity provider did not sign you in (${name}${words})`.slice(0, 400));
};

const idNames = ['ID', 'Id', 'id'];

/**
 * Excludes documents in which a signature and a reader could mean different elements: equal IDs, elements of the same
 * name in other places, signatures elsewhere.
 */
const checkShape = (root: XmlElement): void => {
  const elements = elementsIn(root);
  const ids = elements.flatMap(({ attributes }) =>
    Array.from(attributes).flatMap(({ localName, value }) => (idNames.includes(localName) ? [value] : [])),
  );
  if (new Set(ids).size !== ids.length) throw new SamlError('it has several elements with the same ID');
  const named = (name: string) => elements.filter(({ localName }) => localName === name);
  if (named('Response').length > 1) throw new SamlError('it contains another response');
  if (named('Assertion').length + named('EncryptedAssertion').length !== 1)
    throw new SamlError('it does not have exactly one assertion');
  const assertion = [...named('Assertion'), ...named('EncryptedAssertion')][0];
  const places = [root, assertion];
  if (assertion !== root && assertion?.parentNode !== root)
    throw new SamlError('its assertion is not in the place of the assertion');
  const signatures = elements.filter(({ localName }) => localName === 'Signature');
  if (signatures.some((signature) => !isSignature(signature) || !places.includes(signature.parentNode as XmlElement)))
    throw new SamlError('it has a signature that is not of the response or of the assertion');
};

interface Trust {
  /** Of the identity provider, PEM. */
  certificates: string[];
  /** Own private key (PEM) for encrypted assertions. */
  key: string | undefined;
  /** Refuses assertions that only the response's signature covers. */
  wantAssertionsSigned: boolean;
}

/** The element of a text that was signed, without its signature. */
const signedElement = (text: string, name: 'Response' | 'Assertion'): XmlElement => {
  const element = parseXml(text);
  if (!isNamed(element, name === 'Response' ? 'protocol' : 'assertion', name))
    throw new SamlError(`its signature is not of a ${name.toLowerCase()}`);
  return element;
};

/** An assertion, and the document in which it stands. */
interface Found {
  text: string;
  assertion: XmlElement;
}

const decryptedIn = async (response: XmlElement, trust: Trust, isSigned: boolean): Promise<Found | undefined> => {
  const encrypted = oneOf(response, 'assertion', 'EncryptedAssertion');
  if (!encrypted) return undefined;
  if (!trust.key) throw new SamlError('its assertion is encrypted, but this platform has no private key for it');
  const text = withPlainLineEnds(await decrypted(encrypted, trust.key, isSigned));
  const assertion = parseXml(text);
  if (!isNamed(assertion, 'assertion', 'Assertion')) throw new SamlError('its encrypted content is not an assertion');
  checkShape(assertion);
  return { text, assertion };
};

/**
 * The assertion, read from the text that the identity provider signed: the assertion itself, or the whole response with
 * it. Every signature in the message has to be valid.
 * @throws {SamlError}
 */
export const signedAssertion = async ({ text, response }: Message, trust: Trust): Promise<XmlElement> => {
  checkShape(response);
  const responseText = signedText(text, response, trust.certificates);
  const isSigned = responseText !== undefined;
  const source = isSigned ? signedElement(responseText, 'Response') : response;
  const found = (await decryptedIn(source, trust, isSigned)) ?? {
    text,
    assertion: neededOf(response, 'assertion', 'Assertion'),
  };
  const assertionText = signedText(found.text, found.assertion, trust.certificates);
  if (assertionText !== undefined) return signedElement(assertionText, 'Assertion');
  if (!isSigned) throw new SamlError('neither it nor its assertion is signed');
  if (trust.wantAssertionsSigned) throw new SamlError('its assertion is not signed');
  // Decrypted from the signed ciphertext, or part of the signed text.
  return oneOf(source, 'assertion', 'Assertion') ?? found.assertion;
};

/** Whether the response has a signature of its own. */
export const isSignedResponse = ({ response }: Message): boolean => childrenOf(response).some(isSignature);
