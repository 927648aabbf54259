import { X509Certificate } from 'node:crypto';

/** Certificates and keys of SAML settings, as people paste them. */

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const fromBase64 = (text: string): string =>
  `-----BEGIN CERTIFICATE-----\n${text.replaceAll(/\s+/g, '').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----`;

/**
 * The certificates in a text: one or more in PEM, or one in base64 alone.
 * @throws {Error} if one is malformed
 */
export const certificatesIn = (text: string): X509Certificate[] => {
  if (text.trim() === '') return [];
  const found = text.match(pem) ?? [fromBase64(text)];
  return found.map((one) => new X509Certificate(one));
};

export const toPem = (base64: string): string => fromBase64(base64);

/** Signatures with other keys are not verified (response/signature.ts). */
export const isStrongRsa = ({ publicKey }: X509Certificate): boolean =>
  publicKey.asymmetricKeyType === 'rsa' && (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048;
