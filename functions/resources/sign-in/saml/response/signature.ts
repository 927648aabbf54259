import type { XmlElement } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import { SamlError } from '../error.ts';
import { attributeOf, childrenOf, isNamed, namespaces, neededOf, oneOf } from '../xml/parse.ts';

/**
 * XML signatures (SAML 2.0 core §5.4): each covers exactly the element that contains it, named by its ID. xml-crypto
 * verifies them; the result is the text that was signed, and nothing else of the message is used afterwards.
 */

const strong = {
  signatures: [
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
    'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  ],
  digests: ['http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmlenc#sha512'],
  canonicalizations: ['http://www.w3.org/2001/10/xml-exc-c14n#'],
  transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
};

const checkAlgorithm = (element: XmlElement, allowed: string[]): void => {
  const algorithm = attributeOf(element, 'Algorithm') ?? '';
  if (!allowed.includes(algorithm)) throw new SamlError(`the algorithm ${algorithm.slice(0, 100)} is not accepted`);
};

/** The children must be these, each at most once and in any order, so that nothing else can be taken for them. */
const checkChildren = (element: XmlElement, names: string[]): void => {
  const children = childrenOf(element);
  const known = children.filter((child) => names.some((name) => isNamed(child, 'signature', name)));
  const distinct = new Set(children.map(({ localName }) => localName));
  if (known.length !== children.length || distinct.size !== children.length)
    throw new SamlError(`the element ${element.localName} of its signature has unknown content`);
};

/** @throws {SamlError} unless the signature has the only form that SAML allows */
const checkForm = (signature: XmlElement, signed: XmlElement): void => {
  checkChildren(signature, ['SignedInfo', 'SignatureValue', 'KeyInfo']);
  const info = neededOf(signature, 'signature', 'SignedInfo');
  checkChildren(info, ['CanonicalizationMethod', 'SignatureMethod', 'Reference']);
  checkAlgorithm(neededOf(info, 'signature', 'CanonicalizationMethod'), strong.canonicalizations);
  checkAlgorithm(neededOf(info, 'signature', 'SignatureMethod'), strong.signatures);
  const reference = neededOf(info, 'signature', 'Reference');
  checkChildren(reference, ['Transforms', 'DigestMethod', 'DigestValue']);
  checkAlgorithm(neededOf(reference, 'signature', 'DigestMethod'), strong.digests);
  const transforms = childrenOf(neededOf(reference, 'signature', 'Transforms'));
  if (transforms.length > 2) throw new SamlError('its signature has too many transforms');
  for (const transform of transforms) {
    if (!isNamed(transform, 'signature', 'Transform')) throw new SamlError('its signature has an unknown transform');
    checkAlgorithm(transform, strong.transforms);
  }
  const id = attributeOf(signed, 'ID');
  if (!id || !/^[\w.-]+$/.test(id) || attributeOf(reference, 'URI') !== `#${id}`)
    throw new SamlError('its signature is not of the element that contains it');
};

const verified = (text: string, signature: XmlElement, certificate: string): string | undefined => {
  const verifier = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null });
  try {
    verifier.loadSignature(signature as never);
    if (!verifier.checkSignature(text)) return undefined;
  } catch {
    return undefined;
  }
  const references = verifier.getSignedReferences();
  return references.length === 1 ? references[0] : undefined;
};

/**
 * The text that the signature in the element covers; undefined if the element has none.
 * @param text of the whole document
 * @param certificates of the identity provider (PEM); a certificate in the message has no effect
 * @throws {SamlError} if it has an invalid one
 */
export const signedText = (text: string, element: XmlElement, certificates: string[]): string | undefined => {
  const signature = oneOf(element, 'signature', 'Signature');
  if (!signature) return undefined;
  checkForm(signature, element);
  for (const certificate of certificates) {
    const content = verified(text, signature, certificate);
    if (content !== undefined) return content;
  }
  throw new SamlError('its signature does not match a certificate of the identity provider');
};

export const isSignature = (element: XmlElement): boolean =>
  element.localName === 'Signature' && element.namespaceURI === namespaces.signature;
