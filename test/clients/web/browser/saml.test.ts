import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasGo } from '#test/e2e/support/drift-provider.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { Client, type Resource } from '#test/e2e/support/waiting.ts';
import { type SamlIdp, startSamlIdp } from '#test/support/saml-idp.ts';
import { newPage } from './support/reader.ts';

/** Sign-in with SAML, with a browser and a real identity provider. */

const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

describe.runIf(hasGo)('sign-in with SAML', () => {
  let idp: SamlIdp;
  let platform: PlatformProcess;
  let button: string;
  beforeAll(async () => {
    idp = await startSamlIdp();
    platform = await PlatformProcess.start({
      STEPFORM_SAML_ADMINISTRATORS: 'local',
      // So that a member whom a directory provisioned is found by the address.
      STEPFORM_SIGN_IN_TRUST_EMAILS: 'true',
    });
    const { organization, token, url } = platform.local;
    expect(organization).toBe('local');
    const answer = await fetch(`${url}/api/v2/admin/saml-settings`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify({ data: { attributes: { enabled: true, 'idp-metadata': await idp.metadata() } } }),
    });
    expect({ status: answer.status, text: answer.ok ? '' : await answer.text() }).toEqual({ status: 200, text: '' });
    await idp.register(await (await fetch(`${url}/users/saml/metadata`)).text());
    button = `Sign in with ${new URL(idp.url).host}`;
  }, 600_000);
  afterAll(async () => {
    await platform?.remove();
    await idp?.close();
  });

  const usernameOf = async (page: Page): Promise<unknown> => {
    const token: string = await page.evaluate(() => JSON.parse(sessionStorage.getItem('stepform-token') ?? '{}').token);
    expect(token).toMatch(/^sfs_/);
    return (await new Client(platform.local.url, token).get('/account/details')).attributes.username;
  };

  it('returns to the previous page and leaves no cookie', async () => {
    const { url } = platform.local;
    await idp.use({ NameID: 'ada-1', Format: persistent, Attributes: { Username: ['ada'] } });
    const page = await newPage({ baseURL: url });
    await page.goto('/app/organizations/new?from=test');
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('link', { name: 'ada' }).waitFor();
    expect(page.url()).toBe(`${url}/app/organizations/new?from=test`);
    expect(await usernameOf(page)).toBe('ada');
    expect((await page.context().cookies(url)).map(({ name }) => name)).toEqual([]);
  });

  it('that begins at the identity provider ends in the view of its RelayState', async () => {
    const { url } = platform.local;
    await idp.use({ NameID: 'eve-1', Format: persistent, Attributes: { Username: ['eve'] } });
    const page = await newPage({ baseURL: url });
    await page.goto(`${idp.url}/start?relay=app/settings/tokens`);
    await page.getByRole('link', { name: 'eve' }).waitFor();
    expect(page.url()).toBe(`${url}/app/settings/tokens`);
    expect(await usernameOf(page)).toBe('eve');
    await page.getByRole('region', { name: 'Identities' }).getByText('eve-1').waitFor();
  });

  it('of a member whom a directory provisioned ends with the deactivation, in an open page too', async () => {
    const { url, token, organization } = platform.local;
    const owner = new Client(url, token);
    const made = await owner.call<Resource>('POST', `/organizations/${organization}/scim-configuration`);
    const issued = await owner.call<Resource>('POST', `/scim-configurations/${made.data.id}/authentication-tokens`, {
      data: { attributes: { description: 'directory' } },
    });
    const directory = async (method: string, path: string, body: object) => {
      const answer = await fetch(`${made.data.attributes['base-url']}${path}`, {
        method,
        headers: { authorization: `Bearer ${issued.data.attributes.token}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify(body),
      });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as { id: string };
    };
    const email = 'grace@example.test';
    const { id } = await directory('POST', '/Users', { userName: email });
    await idp.use({ NameID: 'grace-1', Format: persistent, Attributes: { Username: ['grace'], email: [email] } });
    const page = await newPage({ baseURL: url });
    await page.goto(`/app/${organization}/workspaces`);
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: 'Workspaces' }).waitFor();
    const session: string = await page.evaluate(
      () => JSON.parse(sessionStorage.getItem('stepform-token') ?? '{}').token,
    );
    const asked = async (path: string): Promise<number> => {
      const answer = await fetch(`${url}/api/v2${path}`, { headers: { authorization: `Bearer ${session}` } });
      return answer.status;
    };
    expect(await asked(`/organizations/${organization}`)).toBe(200);
    await directory('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path: 'active', value: false }] });
    expect([await asked(`/organizations/${organization}`), await asked('/account/details')]).toEqual([401, 401]);
    await page.reload();
    await page.getByRole('button', { name: button }).waitFor();
    // The identity provider still signs the user in, to nothing.
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: 'Workspaces of local not found' }).waitFor();
  });
});
