import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasGo } from '#test/e2e/support/drift-provider.ts';
import { startApi, uniqueName } from '#test/support/api.ts';
import { type SamlIdp, startSamlIdp } from '#test/support/saml-idp.ts';
import { codeIn } from '../support.ts';
import { acs, configureSaml, newKeys, persistent, SamlBrowser, setUp } from './support.ts';

/** Sign-in at an identity provider that shares no code with this platform. */

const api = await startApi();
const own = await newKeys();

describe.runIf(hasGo)('sign-in at crewjam/saml', () => {
  let idp: SamlIdp;
  beforeAll(async () => {
    configureSaml();
    idp = await startSamlIdp();
    const attributes = { enabled: true, 'team-management-enabled': true, 'idp-metadata': await idp.metadata() };
    const { status, body } = await setUp(api, attributes);
    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
    await idp.register((await new SamlBrowser().open('/users/saml/metadata')).text);
  }, 600_000);
  afterAll(() => idp?.close());

  const enter = async (account: { NameID: string; Attributes?: Record<string, string[]> }) => {
    await idp.use({ Format: persistent, ...account });
    const browser = new SamlBrowser();
    const { location } = await browser.depart();
    const { action, fields } = await idp.visit(location);
    expect(action).toBe(acs);
    const { SAMLResponse = '', ...others } = fields;
    const came = await browser.post(Buffer.from(SAMLResponse, 'base64').toString(), others);
    expect({ status: came.status, text: came.status === 303 ? '' : came.text }).toEqual({ status: 303, text: '' });
    const { body } = await browser.exchange(codeIn(came.location));
    return { token: body.access_token as string, response: Buffer.from(SAMLResponse, 'base64').toString() };
  };

  it('has the attributes and groups', async () => {
    const team = { name: uniqueName('crew'), 'sso-team-id': 'engineers' };
    await api.post('organizations/acme/teams', team);
    const Attributes = { Username: ['grace-hopper'], email: ['grace@example.test'], MemberOf: ['engineers', 'others'] };
    const { token } = await enter({ NameID: 'grace-1', Attributes });
    const me = (await api.get('account/details', { token })).body.data;
    expect(me.attributes.username).toBe('grace-hopper');
    const teams = (await api.get('organizations/acme/teams', { token })).body.data;
    expect(teams.map(({ attributes }: { attributes: { name: string } }) => attributes.name)).toContain(team.name);
    const again = await enter({ NameID: 'grace-1' });
    expect((await api.get('account/details', { token: again.token })).body.data.id).toBe(me.id);
  });

  it('works with signed requests and encrypted assertions', async () => {
    const attributes = { 'authn-requests-signed': true, certificate: own.certificate, 'private-key': own.key };
    expect((await setUp(api, attributes)).status).toBe(200);
    await idp.register((await new SamlBrowser().open('/users/saml/metadata')).text);
    const { token, response } = await enter({ NameID: 'ada-1', Attributes: { Username: ['ada'] } });
    expect(response).toContain('EncryptedAssertion');
    expect(response).toContain('xmlenc11#aes256-gcm');
    expect(response).not.toContain('ada-1');
    expect((await api.get('account/details', { token })).body.data.attributes.username).toBe('ada');
  });

  it('that begins there continues with a request of this platform', async () => {
    await idp.use({ NameID: 'eve-1', Format: persistent });
    const { action, fields } = await idp.visit(`${idp.url}/start?relay=app/acme`);
    expect(action).toBe(acs);
    const browser = new SamlBrowser();
    const came = await browser.post(Buffer.from(fields.SAMLResponse ?? '', 'base64').toString(), {
      RelayState: fields.RelayState ?? '',
    });
    expect(came).toMatchObject({ status: 303, location: '../../app/acme#sign-in=%2Fusers%2Fsaml%2Fsign-in' });
  });
});
