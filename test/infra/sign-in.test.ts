import * as iam from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { readSettings } from '#infra/settings/settings.ts';
import { localOrganizationVariable, organizationVariable } from '#infra/stack/organizations.ts';
import { localSignInVariable, signInVariable } from '#infra/stack/sign-in.ts';
import { stackWith } from './stack-with.ts';
import { environmentOf, permissionsOf, roleOf } from './template.ts';

const okta = {
  signInIssuer: 'https://example.okta.com',
  signInClientId: 'client-1',
  signInSecretParameter: '/stepform/sign-in-secret',
};

const problem = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('was accepted');
};

describe('issuer settings', () => {
  it('become one environment variable without the secret', () => {
    const input = {
      ...okta,
      signInEmailDomains: 'Example.com, example.org',
      signInTrustEmails: 'true',
      signInBaseUrl: 'https://a.b/c/',
    };
    expect(JSON.parse(signInVariable(readSettings(input)))).toEqual({
      oidc: {
        issuer: 'https://example.okta.com',
        clientId: 'client-1',
        clientSecretParameter: '/stepform/sign-in-secret',
        scopes: 'openid email profile',
      },
      emailDomains: ['example.com', 'example.org'],
      trustEmails: true,
      baseUrl: 'https://a.b/c',
    });
    expect(signInVariable(readSettings({}))).toBe('');
  });

  it.each([
    [{ ...okta, signInIssuer: 'http://example.okta.com' }, 'signInIssuer: must be an https URL'],
    [{ ...okta, signInIssuer: 'http://localhost:4000' }, 'signInIssuer: must be an https URL'],
    [{ signInIssuer: okta.signInIssuer }, 'signInClientId: is needed with signInIssuer'],
    [{ signInClientId: 'c' }, 'signInClientId: needs signInIssuer'],
    [{ ...okta, signInEmailDomains: 'ada@example.com' }, 'signInEmailDomains: must be domains'],
    [{ ...okta, signInScopes: 'email' }, 'signInScopes: must contain the scope openid'],
    [{ ...okta, signInBaseUrl: 'http://tools.example.com' }, 'signInBaseUrl: must be an https URL'],
    [{ ...okta, signInBaseUrl: 'https://tools.example.com/?a' }, 'signInBaseUrl: must be an https URL'],
    [{ signInBaseUrl: 'https://tools.example.com' }, 'signInBaseUrl: needs signInIssuer'],
    [{ ...okta, signInTrustEmails: 'maybe' }, 'signInTrustEmails: must be true or false'],
    [{ ...okta, signInSecretParameter: 'a b' }, 'signInSecretParameter: must be the name of a parameter'],
    [
      { ...okta, signInIssuer: 'https://accounts.google.com' },
      'any person can have an account at https://accounts.google.com',
    ],
  ])('reject %j', (context, message) => {
    expect(problem(() => readSettings(context))).toContain(message);
  });

  it('on one machine come from the environment, including the secret', () => {
    const environment = {
      STEPFORM_SIGN_IN_ISSUER: 'http://localhost:4000',
      STEPFORM_SIGN_IN_CLIENT_ID: 'c',
      STEPFORM_SIGN_IN_CLIENT_SECRET: 's',
      STEPFORM_SIGN_IN_GROUPS_CLAIM: 'groups',
      STEPFORM_SIGN_IN_BASE_URL: 'http://localhost:8081/tools/stepform/',
    };
    expect(JSON.parse(localSignInVariable(environment))).toMatchObject({
      oidc: { issuer: 'http://localhost:4000', clientSecret: 's', groupsClaim: 'groups' },
      baseUrl: 'http://localhost:8081/tools/stepform',
    });
    expect(localSignInVariable({})).toBe('');
    const elsewhere = { ...environment, STEPFORM_SIGN_IN_ISSUER: 'http://192.168.1.5' };
    expect(problem(() => localSignInVariable(elsewhere))).toContain('STEPFORM_SIGN_IN_ISSUER: must be an https URL');
    const alone = { STEPFORM_SIGN_IN_ISSUER: 'http://localhost:4000' };
    expect(problem(() => localSignInVariable(alone))).toBe(
      'STEPFORM_SIGN_IN_CLIENT_ID: is needed with STEPFORM_SIGN_IN_ISSUER',
    );
  });
});

describe('samlAdministrators', () => {
  it('allows the settings that apply to every way to sign in, without an issuer', () => {
    const input = { samlAdministrators: 'acme', signInTrustEmails: 'true', signInBaseUrl: 'https://a.b' };
    expect(JSON.parse(signInVariable(readSettings(input)))).toEqual({
      emailDomains: [],
      trustEmails: true,
      baseUrl: 'https://a.b',
    });
    expect(JSON.parse(organizationVariable(readSettings(input)))).toEqual({
      creators: 'owners',
      readsGroups: true,
      samlAdministrators: 'acme',
    });
    const local = { STEPFORM_SAML_ADMINISTRATORS: 'acme', STEPFORM_SIGN_IN_EMAIL_DOMAINS: 'a.b' };
    expect(JSON.parse(localSignInVariable(local))).toEqual({ emailDomains: ['a.b'], trustEmails: false });
    expect(JSON.parse(localOrganizationVariable(local))).toMatchObject({ samlAdministrators: 'acme' });
  });

  it('allows no settings of an issuer, and is the name of an organization', () => {
    expect(problem(() => readSettings({ samlAdministrators: 'acme', signInName: 'Okta' }))).toContain(
      'signInName: needs signInIssuer',
    );
    expect(problem(() => readSettings({ samlAdministrators: 'a b' }))).toContain(
      'samlAdministrators: must be the name of an organization',
    );
    expect(problem(() => localSignInVariable({ STEPFORM_SIGN_IN_TRUST_EMAILS: 'true' }))).toBe(
      'STEPFORM_SIGN_IN_TRUST_EMAILS: needs STEPFORM_SIGN_IN_ISSUER or STEPFORM_SAML_ADMINISTRATORS',
    );
  });
});

describe('the function SignIn', () => {
  it("is the only one to read the secret's parameter", () => {
    const { stack } = stackWith(okta);
    const roles = stack.node.findAll().filter((one) => one instanceof iam.CfnRole);
    const named = roles
      .map(({ node, policies }) => ({ path: node.path, policies: JSON.stringify(stack.resolve(policies)) ?? '' }))
      .filter(({ policies }) => policies.includes('ssm:GetParameter'));
    expect(named.map(({ path }) => path)).toEqual(['Stepform/Default/SignIn/Role/Resource']);
    expect(JSON.stringify(named)).toContain(':parameter/stepform/sign-in-secret');
  });

  it('has no parameter and no issuer by default', () => {
    expect(environmentOf('SignIn')).toMatchObject({ SIGN_IN: '', OUTBOUND_ALLOWED_CIDRS: '' });
    expect(permissionsOf(roleOf('SignIn')).filter((line) => line.startsWith('ssm:'))).toEqual([]);
  });
});
