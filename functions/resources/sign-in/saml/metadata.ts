import type { Answer } from '#api/answer.ts';
import { standardHeaders } from '#api/answer.ts';
import { acsUrl, metadataUrl } from './addresses.ts';
import { preferred } from './response/decryption.ts';
import { certificatesIn } from './settings/certificates.ts';
import type { SamlSettings } from './settings/records.ts';
import { escapedXml, namespaces } from './xml/parse.ts';

/** This platform as a service provider, for the identity provider (SAML 2.0 metadata §2.4.4). */

const keyDescriptor = (certificate: string, use: 'signing' | 'encryption'): string => {
  const methods = use === 'encryption' ? preferred.map((one) => `<md:EncryptionMethod Algorithm="${one}"/>`) : [];
  return `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="${namespaces.signature}"><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${methods.join('')}</md:KeyDescriptor>`;
};

const metadata = (settings: SamlSettings): string => {
  const certificates = certificatesIn(settings.certificate).map(({ raw }) => raw.toString('base64'));
  const keys = certificates.flatMap((one) => [keyDescriptor(one, 'signing'), keyDescriptor(one, 'encryption')]);
  return `<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="${namespaces.metadata}" entityID="${escapedXml(metadataUrl())}"><md:SPSSODescriptor AuthnRequestsSigned="${settings.authnRequestsSigned}" WantAssertionsSigned="${settings.wantAssertionsSigned}" protocolSupportEnumeration="${namespaces.protocol}">${keys.join('')}<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${escapedXml(acsUrl())}" index="0" isDefault="true"/></md:SPSSODescriptor></md:EntityDescriptor>
`;
};

export const metadataAnswer = (settings: SamlSettings): Answer => ({
  statusCode: 200,
  headers: { ...standardHeaders, 'content-type': 'application/samlmetadata+xml' },
  body: metadata(settings),
});
