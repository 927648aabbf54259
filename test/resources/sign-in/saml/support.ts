import { randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import selfsigned from 'selfsigned';
import { SignedXml } from 'xml-crypto';
import type { SignInSettings } from '#platform/environment.ts';
import type { Api } from '#test/support/api.ts';
import { Browser, codeIn, type Seen } from '../support.ts';

/** A SAML identity provider whose messages a test writes itself, right or forged, and the browser between both sides. */

const home = 'https://api.example.test';
export const acs = `${home}/users/saml/auth`;
const audience = `${home}/users/saml/metadata`;

export const configureSaml = (settings: Partial<SignInSettings> = {}): void => {
  process.env.SIGN_IN = JSON.stringify({ emailDomains: [], trustEmails: false, ...settings });
  process.env.ORGANIZATION_RULES = JSON.stringify({
    creators: 'owners',
    readsGroups: true,
    samlAdministrators: 'acme',
  });
  process.env.PUBLIC_URL = home;
};

export const setUp = (api: Api, attributes: object) =>
  api.call('PATCH', 'admin/saml-settings', { body: { data: { type: 'saml-settings', attributes } } });

export interface Keys {
  key: string;
  certificate: string;
}

export const newKeys = async (): Promise<Keys> => {
  const pair = await selfsigned.generate([{ name: 'commonName', value: 'test' }], {
    keySize: 2048,
    algorithm: 'sha256',
  });
  return { key: pair.private, certificate: pair.cert };
};

export const algorithms = {
  rsaSha1: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  rsaSha256: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  hmac: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
  sha1: 'http://www.w3.org/2000/09/xmldsig#sha1',
  sha256: 'http://www.w3.org/2001/04/xmlenc#sha256',
  exclusive: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  exclusiveWithComments: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
  enveloped: 'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
};

interface Signing {
  signature?: string;
  digest?: string;
  canonicalization?: string;
  transforms?: string[];
}

/** Signs the element with this ID, and puts the signature after its issuer. */
export const signed = (xml: string, id: string, { key, certificate }: Keys, how: Signing = {}): string => {
  const signer = new SignedXml({
    privateKey: key,
    publicCert: certificate,
    signatureAlgorithm: (how.signature ?? algorithms.rsaSha256) as never,
    canonicalizationAlgorithm: (how.canonicalization ?? algorithms.exclusive) as never,
  });
  if (how.signature === algorithms.hmac) signer.enableHMAC();
  signer.addReference({
    xpath: `//*[@ID='${id}']`,
    digestAlgorithm: (how.digest ?? algorithms.sha256) as never,
    transforms: (how.transforms ?? [algorithms.enveloped, algorithms.exclusive]) as never,
  });
  const reference = `//*[@ID='${id}']/*[local-name()='Issuer']`;
  signer.computeSignature(xml, { prefix: 'ds', location: { reference, action: 'after' } });
  return signer.getSignedXml();
};

const newId = (): string => `_${randomBytes(12).toString('hex')}`;
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

export interface Told {
  requestId: string;
  id?: string;
  issuer?: string;
  nameId?: string;
  format?: string;
  recipient?: string;
  audience?: string;
  /** In seconds from now. */
  from?: number;
  until?: number;
  sessionUntil?: number;
  /** ID of the request in the subject confirmation, if it differs. */
  confirms?: string;
  attributes?: Record<string, string[]>;
  /** More XML in the conditions. */
  conditions?: string;
  /** More XML in the attribute statement. */
  more?: string;
}

export const entityId = 'https://idp.example.test/metadata';
export const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

export const assertionXml = ({ from = -60, until = 300, ...told }: Told): string => {
  const { id = newId(), requestId, confirms = requestId, issuer = entityId, attributes = {} } = told;
  const values = Object.entries(attributes).map(
    ([name, texts]) =>
      `<saml:Attribute Name="${name}">${texts.map((text) => `<saml:AttributeValue>${text}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
  );
  const session = told.sessionUntil === undefined ? '' : ` SessionNotOnOrAfter="${inSeconds(told.sessionUntil)}"`;
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${inSeconds(0)}"><saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID Format="${told.format ?? persistent}">${told.nameId ?? 'ada-1'}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData InResponseTo="${confirms}" Recipient="${told.recipient ?? acs}" NotOnOrAfter="${inSeconds(until)}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${inSeconds(from)}" NotOnOrAfter="${inSeconds(until)}"><saml:AudienceRestriction><saml:Audience>${told.audience ?? audience}</saml:Audience></saml:AudienceRestriction>${told.conditions ?? ''}</saml:Conditions><saml:AuthnStatement AuthnInstant="${inSeconds(0)}"${session}><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${values.join('')}${told.more ?? ''}</saml:AttributeStatement></saml:Assertion>`;
};

export interface Wrapped {
  requestId?: string;
  id?: string;
  issuer?: string;
  destination?: string | null;
  status?: string;
}

export const responseXml = (inner: string, { id = newId(), issuer = entityId, ...rest }: Wrapped): string => {
  const { requestId, destination = acs, status = 'urn:oasis:names:tc:SAML:2.0:status:Success' } = rest;
  const to = destination === null ? '' : ` Destination="${destination}"`;
  const answers = requestId === undefined ? '' : ` InResponseTo="${requestId}"`;
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${inSeconds(0)}"${to}${answers}><saml:Issuer>${issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${inner}</samlp:Response>`;
};

/** A response as the identity provider would send it. */
export const goodResponse = (told: Told, keys: Keys): string => {
  const { id = newId() } = told;
  return responseXml(signed(assertionXml({ ...told, id }), id, keys), { requestId: told.requestId });
};

/** The request in the address of the identity provider. */
export const requestIn = (location: string): { id: string; xml: string } => {
  const message = new URL(location).searchParams.get('SAMLRequest') ?? '';
  const xml = inflateRawSync(Buffer.from(message, 'base64')).toString();
  return { id: /\sID="([^"]+)"/.exec(xml)?.[1] ?? '', xml };
};

export class SamlBrowser extends Browser {
  /** Begins at this platform. @returns ID of the request */
  async depart(parameters: Record<string, string> = { client_id: 'page' }): Promise<{ id: string; location: string }> {
    const all = { ...parameters, code_challenge: this.challenge, code_challenge_method: 'S256' };
    const { location } = await this.open(`/users/saml/sign-in?${new URLSearchParams(all)}`);
    return { id: requestIn(location).id, location };
  }

  /** Posts the form of the identity provider. */
  post(xml: string, more: Record<string, string> = {}): Promise<Seen> {
    const body = { SAMLResponse: Buffer.from(xml).toString('base64'), ...more };
    return this.open('/users/saml/auth', { method: 'POST', body });
  }

  /** The whole sign-in. @returns the token, or the refusal */
  async enter(keys: Keys, told: Partial<Told> = {}, token?: string) {
    const { id } = await this.depart();
    const came = await this.post(goodResponse({ requestId: id, ...told }, keys));
    if (came.status !== 303) throw new Error(`${came.status} ${came.text}`);
    return this.exchange(codeIn(came.location), { token });
  }
}
