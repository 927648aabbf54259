import { describe, expect, it } from 'vitest';
import { readSettings } from '#infra/settings/settings.ts';
import { localOrganizationVariable, organizationVariable } from '#infra/stack/organizations.ts';

const issuer = { signInIssuer: 'https://example.okta.com', signInClientId: 'c' };
const local = { STEPFORM_SIGN_IN_ISSUER: 'http://localhost:4000', STEPFORM_SIGN_IN_CLIENT_ID: 'c' };
const rules = (text: string) => JSON.parse(text) as object;

const problem = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('was accepted');
};

describe('organizationCreators', () => {
  it('defaults to everyone without an issuer, and to owners with one', () => {
    expect(rules(organizationVariable(readSettings({})))).toEqual({ creators: 'anyone' });
    expect(rules(organizationVariable(readSettings(issuer)))).toEqual({ creators: 'owners' });
    const chosen = readSettings({ ...issuer, organizationCreators: 'operator' });
    expect(rules(organizationVariable(chosen))).toEqual({ creators: 'operator' });
    expect(rules(localOrganizationVariable({}))).toEqual({ creators: 'anyone' });
    expect(rules(localOrganizationVariable(local))).toEqual({ creators: 'owners' });
    expect(rules(localOrganizationVariable({ ...local, STEPFORM_ORGANIZATION_CREATORS: 'anyone' }))).toEqual({
      creators: 'anyone',
    });
  });

  it('rejects unknown values', () => {
    expect(problem(() => readSettings({ organizationCreators: 'some' }))).toContain(
      'organizationCreators: must be anyone, owners or operator',
    );
    expect(problem(() => localOrganizationVariable({ STEPFORM_ORGANIZATION_CREATORS: 'some' }))).toBe(
      'STEPFORM_ORGANIZATION_CREATORS: must be anyone, owners or operator',
    );
  });
});

describe('signInGroupOrganizations', () => {
  it('are the listed ones', () => {
    const input = { ...issuer, signInGroupsClaim: 'groups', signInGroupOrganizations: 'acme, other' };
    expect(rules(organizationVariable(readSettings(input)))).toEqual({
      creators: 'owners',
      groups: ['acme', 'other'],
      readsGroups: true,
    });
    const environment = {
      ...local,
      STEPFORM_SIGN_IN_GROUPS_CLAIM: 'groups',
      STEPFORM_SIGN_IN_GROUP_ORGANIZATIONS: 'acme,other',
    };
    expect(rules(localOrganizationVariable(environment))).toMatchObject({ groups: ['acme', 'other'] });
  });

  it('require a groups claim and valid names', () => {
    expect(problem(() => readSettings({ ...issuer, signInGroupOrganizations: 'acme' }))).toContain(
      'signInGroupOrganizations: needs signInGroupsClaim or samlAdministrators',
    );
    expect(problem(() => localOrganizationVariable({ STEPFORM_SIGN_IN_GROUP_ORGANIZATIONS: 'acme' }))).toBe(
      'STEPFORM_SIGN_IN_GROUP_ORGANIZATIONS: needs STEPFORM_SIGN_IN_GROUPS_CLAIM or STEPFORM_SAML_ADMINISTRATORS',
    );
    const odd = { ...issuer, signInGroupsClaim: 'groups', signInGroupOrganizations: 'a b' };
    expect(problem(() => readSettings(odd))).toContain('signInGroupOrganizations: must be names of organizations');
  });
});
