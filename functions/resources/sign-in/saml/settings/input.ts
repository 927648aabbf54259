import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, setting, settingsFrom, text } from '#api/validation.ts';
import { isLoopback } from '#platform/net/transport/plain-http.ts';
import { SamlError } from '../error.ts';
import { certificatesIn, isStrongRsa } from './certificates.ts';
import { readIdpMetadata } from './idp-metadata.ts';
import { defaultSettings, providerTypes, type SamlSettings, sealKey } from './records.ts';

/** Changes of SAML settings. An empty text removes a value, as Terraform's provider sends it. */

const isEndpoint = (address: string): boolean => {
  const url = URL.parse(address);
  return url !== null && !url.username && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)));
};

const endpoint = v.pipe(
  text(2000),
  v.check((address) => address === '' || isEndpoint(address), 'must be an https URL'),
);

const certificateText = v.pipe(
  text(20_000),
  v.check((given) => {
    try {
      return certificatesIn(given).every(isStrongRsa);
    } catch {
      return false;
    }
  }, 'must be an X.509 certificate in PEM with an RSA key of at least 2048 bits'),
);

const privateKeyOf = (given: string): KeyObject | undefined => {
  try {
    return createPrivateKey(given);
  } catch {
    return undefined;
  }
};

const keyText = v.pipe(
  text(20_000),
  v.check(
    (given) => given === '' || privateKeyOf(given)?.asymmetricKeyType === 'rsa',
    'must be an RSA private key in PEM without a passphrase',
  ),
);

const name = v.pipe(text(250), v.minLength(1, 'must not be empty'));
const sha256 = v.literal('SHA256', 'must be SHA256: SHA-1 does not protect signatures any more');

const attributes = {
  enabled: setting(v.boolean()),
  debug: setting(v.boolean()),
  'authn-requests-signed': setting(v.boolean()),
  'want-assertions-signed': setting(v.boolean()),
  'team-management-enabled': setting(v.boolean()),
  'idp-cert': setting(certificateText),
  'idp-entity-id': setting(text(1024)),
  'sso-endpoint-url': setting(endpoint),
  'slo-endpoint-url': setting(endpoint),
  'attr-username': setting(name),
  'attr-groups': setting(name),
  'attr-site-admin': setting(name),
  'site-admin-role': setting(text(250)),
  'sso-api-token-session-timeout': setting(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(60, 'must be at least 60'),
      v.maxValue(31_536_000, 'may be a year at most'),
    ),
  ),
  certificate: setting(certificateText),
  'provider-type': setting(v.picklist(providerTypes)),
};

const apart = {
  'private-key': setting(keyText),
  'idp-metadata': setting(text(300_000)),
  'signature-signing-method': setting(sha256),
  'signature-digest-method': setting(sha256),
};

const otherFields: OtherFields = { shown: 'old-idp-cert acs-consumer-url metadata-url' };

const pointerTo = (attribute: string): string => `/data/attributes/${attribute}`;

/** Values of the identity provider's metadata, checked like those in attributes of their own. */
const fromMetadata = (given: string | null | undefined): Partial<SamlSettings> => {
  if (!given) return {};
  const refused = (why: string) => unprocessable(pointerTo('idp-metadata'), `idp-metadata: ${why}`);
  try {
    const values = readIdpMetadata(given);
    const schema = { idpCert: certificateText, ssoEndpointUrl: endpoint, sloEndpointUrl: endpoint };
    const { issues } = v.safeParse(v.object(schema), values);
    if (issues) throw refused(`its ${v.getDotPath(issues[0])} ${issues[0].message}`);
    return values;
  } catch (error) {
    throw error instanceof SamlError ? refused(error.message) : error;
  }
};

const isSameKey = (certificate: X509Certificate | undefined, key: string): boolean =>
  certificate?.checkPrivateKey(createPrivateKey(key)) === true;

/** @throws {ApiError} 422 for settings that cannot work together */
const checkTogether = (next: SamlSettings, key: string | undefined): void => {
  const needs = (attribute: string, why: string) => unprocessable(pointerTo(attribute), `${attribute}: ${why}`);
  if (next.enabled && (!next.idpCert || !next.ssoEndpointUrl))
    throw needs('enabled', 'needs idp-cert and sso-endpoint-url, or idp-metadata');
  if (next.authnRequestsSigned && !(next.certificate && next.privateKey))
    throw needs('authn-requests-signed', 'needs certificate and private-key');
  if (!key) return;
  if (!next.certificate) throw needs('private-key', 'needs certificate');
  if (!isSameKey(certificatesIn(next.certificate)[0], key))
    throw needs('private-key', 'is not the key of the certificate');
};

/**
 * The changed settings.
 * @throws {ApiError} 400 or 422
 */
export const readChange = async (request: ApiRequest, before: SamlSettings): Promise<Partial<SamlSettings>> => {
  const { attributes: given } = readData(request, { ...attributes, ...apart }, {}, otherFields);
  const change = { ...settingsFrom(given, defaultSettings), ...fromMetadata(given['idp-metadata']) };
  if (change.idpCert !== undefined && change.idpCert !== before.idpCert)
    change.oldIdpCert = change.idpCert && before.idpCert;
  const key = given['private-key'];
  if (key !== undefined) change.privateKey = key ? await sealKey(key) : undefined;
  // A key belongs to its certificate.
  else if (change.certificate !== undefined && change.certificate !== before.certificate) change.privateKey = undefined;
  checkTogether({ ...before, ...change }, key || undefined);
  return change;
};
