import { sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { acsUrl, metadataUrl } from './addresses.ts';
import type { SamlSettings } from './settings/records.ts';
import { escapedXml, namespaces } from './xml/parse.ts';

/** The request for a sign-in, in the address of the identity provider (SAML 2.0 bindings §3.4: HTTP Redirect). */

const algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const binding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';

const authnRequest = (id: string, destination: string): string =>
  `<samlp:AuthnRequest xmlns:samlp="${namespaces.protocol}" xmlns:saml="${namespaces.assertion}" ID="${id}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${escapedXml(destination)}" AssertionConsumerServiceURL="${escapedXml(acsUrl())}" ProtocolBinding="${binding}"><saml:Issuer>${escapedXml(metadataUrl())}</saml:Issuer></samlp:AuthnRequest>`;

/**
 * URL at which the browser signs in.
 * @param key private key (PEM), if requests are signed
 */
export const requestUrl = (
  { ssoEndpointUrl }: Pick<SamlSettings, 'ssoEndpointUrl'>,
  requestId: string,
  key: string | undefined,
): string => {
  const message = deflateRawSync(authnRequest(requestId, ssoEndpointUrl)).toString('base64');
  const parameters = new URLSearchParams({ SAMLRequest: message });
  if (key !== undefined) {
    parameters.set('SigAlg', algorithm);
    // The signature covers the parameters as they are in the URL, in this order.
    parameters.set('Signature', sign('sha256', Buffer.from(String(parameters)), key).toString('base64'));
  }
  const url = new URL(ssoEndpointUrl);
  const separator = url.search ? '&' : '?';
  url.hash = '';
  return `${url.href.replace(/\?$/, '')}${separator}${parameters}`;
};
