import { promisify } from 'node:util';
import type { XmlElement } from '@xmldom/xmldom';
import { type DecryptOptions, decrypt } from 'xml-encryption';
import { SamlError } from '../error.ts';
import { attributeOf, elementsIn, isNamed } from '../xml/parse.ts';

/** Encrypted assertions (XML Encryption 1.1). */

const keyTransports = ['http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p', 'http://www.w3.org/2009/xmlenc11#rsa-oaep'];
const authenticated = ['http://www.w3.org/2009/xmlenc11#aes128-gcm', 'http://www.w3.org/2009/xmlenc11#aes256-gcm'];
/** A change of the ciphertext goes unnoticed, so that trials reveal the content. */
const unauthenticated = ['http://www.w3.org/2001/04/xmlenc#aes128-cbc', 'http://www.w3.org/2001/04/xmlenc#aes256-cbc'];

/** Algorithms that the metadata asks for. */
export const preferred = [...authenticated, ...keyTransports];

const run = promisify<string, DecryptOptions, string | undefined>(decrypt);

/**
 * The XML in an element EncryptedAssertion. Every failure has the same message, for trials reveal nothing.
 * @param isSigned whether a signature covers the ciphertext
 * @throws {SamlError}
 */
export const decrypted = async (encrypted: XmlElement, key: string, isSigned: boolean): Promise<string> => {
  const accepted = [...keyTransports, ...authenticated, ...(isSigned ? unauthenticated : [])];
  const methods = elementsIn(encrypted).filter((element) => isNamed(element, 'encryption', 'EncryptionMethod'));
  for (const method of methods) {
    const algorithm = attributeOf(method, 'Algorithm') ?? '';
    if (accepted.includes(algorithm)) continue;
    const remedy = unauthenticated.includes(algorithm) ? ' unless the whole response is signed; use AES-GCM' : '';
    throw new SamlError(`the algorithm ${algorithm.slice(0, 100)} is not accepted${remedy}`);
  }
  const options = { key, disallowDecryptionWithInsecureAlgorithm: !isSigned, warnInsecureAlgorithm: false };
  const content = await run(encrypted.toString(), options).catch(() => undefined);
  if (!content) throw new SamlError('its assertion is encrypted, but not for the certificate of this platform');
  return content;
};
