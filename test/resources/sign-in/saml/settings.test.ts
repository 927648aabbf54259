import { beforeAll, describe, expect, it } from 'vitest';
import { startApi, uniqueName } from '#test/support/api.ts';
import { configureSaml, newKeys, SamlBrowser, setUp } from './support.ts';

/** Terraform Enterprise's SAML settings, for site administrators. */

const api = await startApi();
const { createToken } = await import('#resources/users/tokens.ts');
const { createUser } = await import('#resources/users/users.ts');
const idp = await newKeys();
const own = await newKeys();
beforeAll(() => configureSaml());

const path = 'admin/saml-settings';
const read = async () => (await api.get(path)).body.data.attributes;

it('have the defaults, URLs and id of Terraform Enterprise', async () => {
  const { body } = await api.get(path);
  expect(body.data).toMatchObject({ id: 'saml', type: 'saml-settings' });
  expect(body.data.attributes).toEqual({
    enabled: false,
    debug: false,
    'authn-requests-signed': false,
    'want-assertions-signed': false,
    'team-management-enabled': false,
    'old-idp-cert': null,
    'idp-cert': null,
    'idp-entity-id': null,
    'slo-endpoint-url': null,
    'sso-endpoint-url': null,
    'attr-username': 'Username',
    'attr-groups': 'MemberOf',
    'attr-site-admin': 'SiteAdmin',
    'site-admin-role': 'site-admins',
    'sso-api-token-session-timeout': 1_209_600,
    'acs-consumer-url': 'https://api.example.test/users/saml/auth',
    'metadata-url': 'https://api.example.test/users/saml/metadata',
    certificate: null,
    'private-key': null,
    'signature-signing-method': 'SHA256',
    'signature-digest-method': 'SHA256',
    'provider-type': 'unknown',
  });
});

it('take what the provider tfe sends, show it again but the private key, and are emptied by empty texts', async () => {
  const values = {
    enabled: true,
    'idp-cert': idp.certificate,
    'slo-endpoint-url': 'https://idp.example.test/slo',
    'sso-endpoint-url': 'https://idp.example.test/sso',
    'authn-requests-signed': true,
    'attr-username': 'login',
    certificate: own.certificate,
    'signature-signing-method': 'SHA256',
    'signature-digest-method': 'SHA256',
    'provider-type': 'okta',
  };
  const { status, body } = await setUp(api, { ...values, 'private-key': own.key });
  expect({ status, attributes: body.data.attributes }).toMatchObject({
    status: 200,
    attributes: { ...values, 'private-key': null },
  });
  expect(JSON.parse((await new SamlBrowser().open('/oauth/ways')).text)).toEqual({
    ways: [{ name: 'Okta', path: '/users/saml/sign-in' }],
  });
  const metadata = (await new SamlBrowser().open('/users/saml/metadata')).text;
  expect(metadata).toContain('AuthnRequestsSigned="true"');
  expect(metadata.match(/<ds:X509Certificate>/g)).toHaveLength(2);
  expect(metadata).toContain('Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"');
  const none = { enabled: false, 'idp-cert': '', 'sso-endpoint-url': '', 'authn-requests-signed': false };
  await setUp(api, { ...none, certificate: '', 'private-key': '', 'provider-type': 'unknown', 'attr-username': null });
  expect(await read()).toMatchObject({
    'idp-cert': null,
    'old-idp-cert': null,
    certificate: null,
    'attr-username': 'Username',
  });
});

it('store the private key encrypted', async () => {
  await setUp(api, { certificate: own.certificate, 'private-key': own.key });
  const { get } = await import('#platform/store/table.ts');
  const { keys } = await import('#platform/store/keys.ts');
  const item = await get<{ privateKey: Uint8Array }>(keys.samlSettings);
  expect(item?.privateKey.length).toBeGreaterThan(1000);
  expect(Buffer.from(item?.privateKey ?? []).toString('latin1')).not.toContain('PRIVATE KEY');
  await setUp(api, { certificate: '', 'private-key': '' });
  expect((await get<{ privateKey?: Uint8Array }>(keys.samlSettings))?.privateKey).toBeUndefined();
});

it("come from the identity provider's metadata", async () => {
  const base64 = idp.certificate.replaceAll(/-----[^-]+-----|\s/g, '');
  const key = (use: string) =>
    `<md:KeyDescriptor${use}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
  const metadata = (more = '') => `<?xml version="1.0"?>
<!-- of a realm -->
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example.test/realm"><md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${key('')}${key(' use="encryption"')}<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://idp.example.test/post"/>${more}</md:IDPSSODescriptor></md:EntityDescriptor>`;
  const redirect = `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example.test/redirect"/>`;
  const { body } = await setUp(api, { enabled: true, 'idp-metadata': metadata(redirect) });
  expect(body.data.attributes).toMatchObject({
    'idp-entity-id': 'https://idp.example.test/realm',
    'sso-endpoint-url': 'https://idp.example.test/redirect',
    'slo-endpoint-url': null,
  });
  expect(body.data.attributes['idp-cert'].match(/BEGIN/g)).toHaveLength(1);
  const refused = async (text: string) => (await setUp(api, { 'idp-metadata': text })).body.errors[0];
  expect(await refused(metadata())).toMatchObject({
    detail: 'idp-metadata: it has no SingleSignOnService with the binding HTTP-Redirect',
    source: { pointer: '/data/attributes/idp-metadata' },
  });
  expect((await refused('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')).detail).toContain(
    'a document type',
  );
  expect((await refused(metadata(redirect.replace('https:', 'javascript:')))).detail).toContain('must be an https URL');
  const nested = `${'<md:Extensions>'.repeat(50)}${'</md:Extensions>'.repeat(50)}`;
  expect((await refused(metadata(`${redirect}${nested}`))).detail).toContain('nested too deep');
});

describe('a change is rejected', () => {
  it.each<[object, string, string]>([
    [{ 'idp-cert': 'testCert' }, 'idp-cert', 'must be an X.509 certificate in PEM'],
    [{ 'private-key': 'testKey' }, 'private-key', 'must be an RSA private key'],
    [{ 'sso-endpoint-url': 'http://idp.example.test' }, 'sso-endpoint-url', 'must be an https URL'],
    [{ 'sso-endpoint-url': 'https://user:password@idp.example.test' }, 'sso-endpoint-url', 'must be an https URL'],
    [{ 'signature-signing-method': 'SHA1' }, 'signature-signing-method', 'must be SHA256'],
    [{ 'signature-digest-method': 'SHA1' }, 'signature-digest-method', 'must be SHA256'],
    [{ 'provider-type': 'google' }, 'provider-type', 'must be one of'],
    [{ 'attr-groups': '' }, 'attr-groups', 'must not be empty'],
    [{ 'sso-api-token-session-timeout': 5 }, 'sso-api-token-session-timeout', 'must be at least 60'],
    [{ enabled: true, 'idp-cert': '' }, 'enabled', 'needs idp-cert and sso-endpoint-url'],
    [{ 'authn-requests-signed': true, certificate: '' }, 'authn-requests-signed', 'needs certificate and private-key'],
    [{ unknown: 1 }, 'unknown', 'is not an attribute'],
  ])('%j', async (attributes, name, words) => {
    const before = await read();
    const { status, body } = await setUp(api, attributes);
    expect(status).toBe(422);
    expect(body.errors[0]).toMatchObject({
      detail: expect.stringContaining(words),
      source: { pointer: `/data/attributes/${name}` },
    });
    expect(await read()).toEqual(before);
  });

  it('when the private key is not the one of the certificate', async () => {
    const { body } = await setUp(api, { certificate: own.certificate, 'private-key': idp.key });
    expect(body.errors[0].detail).toBe('private-key: is not the key of the certificate');
  });
});

describe('callers', () => {
  const answers = async (token: string) => [
    (await api.get(path, { token })).status,
    (await api.call('PATCH', path, { token, body: { data: { attributes: { debug: true } } } })).status,
    (await api.call('POST', `${path}/actions/revoke-old-certificate`, { token })).status,
  ];

  it('without the right get 404: strangers, owners of other organizations, tokens of the organization', async () => {
    const stranger = await createUser({ username: uniqueName('stranger'), email: 's@example.test' });
    const { secret } = await createToken(stranger.id, 'test');
    expect(await answers(secret)).toEqual([404, 404, 404]);
    const { handler: bootstrap } = await import('#resources/organizations/bootstrap.ts');
    const other = await bootstrap({ organization: 'other', email: 'o@example.test', username: 'other' });
    const { secret: otherOwner } = await createToken(other.userId, 'test');
    expect((await api.get('admin/organizations/other', { token: otherOwner })).status).toBe(200);
    expect(await answers(otherOwner)).toEqual([404, 404, 404]);
    const created = await api.call('POST', 'organizations/acme/authentication-token', { body: {} });
    expect(await answers(created.body.data.attributes.token)).toEqual([404, 404, 404]);
    expect((await read()).debug).toBe(false);
  });

  it('in an organization that took the name, but that the operator did not create, get 404', async () => {
    const rules = JSON.parse(process.env.ORGANIZATION_RULES ?? '{}');
    process.env.ORGANIZATION_RULES = JSON.stringify({ ...rules, creators: 'anyone', samlAdministrators: 'free' });
    const climber = await createUser({ username: uniqueName('climber'), email: 'c@example.test' });
    const { secret: token } = await createToken(climber.id, 'test');
    const made = await api.call('POST', 'organizations', {
      token,
      body: { data: { attributes: { name: 'free', email: 'c@example.test' } } },
    });
    expect(made.status).toBe(201);
    expect(await answers(token)).toEqual([404, 404, 404]);
    process.env.ORGANIZATION_RULES = JSON.stringify(rules);
  });

  it('leave an event in the audit trail', async () => {
    await setUp(api, { debug: false });
    const { data } = (await api.get('organization/audit-trail?filter[organization][name]=acme')).body;
    const { type, action } = data[0].resource;
    expect({ type, action, by: data[0].auth.accessor_id }).toEqual({
      type: 'saml_setting',
      action: 'update',
      by: api.userId,
    });
  });
});
