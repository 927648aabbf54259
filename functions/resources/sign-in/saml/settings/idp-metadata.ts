import type { XmlElement } from '@xmldom/xmldom';
import { SamlError } from '../error.ts';
import {
  attributeOf,
  elementsIn,
  isNamed,
  listOf,
  neededOf,
  parseXml,
  textIn,
  withPlainLineEnds,
} from '../xml/parse.ts';
import { toPem } from './certificates.ts';
import type { SamlSettings } from './records.ts';

/** Metadata of an identity provider (SAML 2.0 metadata §2.4.3), which a site administrator pastes. */

type FromMetadata = Pick<SamlSettings, 'idpCert' | 'idpEntityId' | 'ssoEndpointUrl' | 'sloEndpointUrl'>;

const redirect = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

const endpointIn = (descriptor: XmlElement, name: string): string | undefined => {
  const services = listOf(descriptor, 'metadata', name);
  const service = services.find((one) => attributeOf(one, 'Binding') === redirect);
  return service && attributeOf(service, 'Location');
};

const signingCertificates = (descriptor: XmlElement): string[] =>
  listOf(descriptor, 'metadata', 'KeyDescriptor')
    .filter((key) => attributeOf(key, 'use') !== 'encryption')
    .flatMap((key) => elementsIn(key).filter((element) => isNamed(element, 'signature', 'X509Certificate')))
    .map((certificate) => toPem(textIn(certificate)));

/** @throws {SamlError} whose message completes "idp-metadata: …" */
export const readIdpMetadata = (text: string): FromMetadata => {
  const entity = parseXml(withPlainLineEnds(text.trim()), 'metadata');
  if (!isNamed(entity, 'metadata', 'EntityDescriptor')) throw new SamlError('it is not the metadata of one entity');
  const descriptor = neededOf(entity, 'metadata', 'IDPSSODescriptor');
  const ssoEndpointUrl = endpointIn(descriptor, 'SingleSignOnService');
  if (!ssoEndpointUrl) throw new SamlError('it has no SingleSignOnService with the binding HTTP-Redirect');
  const certificates = signingCertificates(descriptor);
  if (certificates.length === 0) throw new SamlError('it has no signing certificate');
  return {
    idpEntityId: attributeOf(entity, 'entityID') ?? '',
    idpCert: certificates.join('\n'),
    ssoEndpointUrl,
    sloEndpointUrl: endpointIn(descriptor, 'SingleLogoutService') ?? '',
  };
};
