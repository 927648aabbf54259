import { environment } from '#platform/environment.ts';
import { asEdit, type Edited } from '#platform/store/edits.ts';
import { keys } from '#platform/store/keys.ts';
import { open, type SecretContext, seal } from '#platform/store/secrets.ts';
import { get, update } from '#platform/store/table.ts';

/** Settings of SAML (Terraform Enterprise API: admin settings), one item for the whole platform. */

export const providerTypes = ['okta', 'entra', 'saml', 'unknown'] as const;

export interface SamlSettings extends Edited {
  enabled: boolean;
  /** The page of a failed sign-in shows what the identity provider sent. */
  debug: boolean;
  authnRequestsSigned: boolean;
  /** Refuses assertions that only the response's signature covers. */
  wantAssertionsSigned: boolean;
  /** Groups decide who is in teams with an `sso-team-id`. */
  teamManagementEnabled: boolean;
  /** Certificates of the identity provider (PEM); empty if not set. */
  idpCert: string;
  /** Those before the last change, accepted until they are revoked. */
  oldIdpCert: string;
  /** Entity id of the identity provider; empty: the certificate alone identifies it. */
  idpEntityId: string;
  ssoEndpointUrl: string;
  /** Stored for clients; this platform does not end sessions at the identity provider. */
  sloEndpointUrl: string;
  attrUsername: string;
  attrGroups: string;
  attrSiteAdmin: string;
  /** Group whose members are site administrators. */
  siteAdminRole: string;
  /** Seconds after a sign-in in which the user's API tokens work, and their rights as a site administrator last. */
  ssoApiTokenSessionTimeout: number;
  /** This platform's own certificate (PEM); empty if not set. */
  certificate: string;
  /** Its private key, sealed. */
  privateKey?: Uint8Array;
  providerType: (typeof providerTypes)[number];
}

export const defaultSettings: SamlSettings = {
  enabled: false,
  debug: false,
  authnRequestsSigned: false,
  wantAssertionsSigned: false,
  teamManagementEnabled: false,
  idpCert: '',
  oldIdpCert: '',
  idpEntityId: '',
  ssoEndpointUrl: '',
  sloEndpointUrl: '',
  attrUsername: 'Username',
  attrGroups: 'MemberOf',
  attrSiteAdmin: 'SiteAdmin',
  siteAdminRole: 'site-admins',
  ssoApiTokenSessionTimeout: 14 * 24 * 3600,
  certificate: '',
  providerType: 'unknown',
};

/** 1 read. */
export const getSettings = async (): Promise<SamlSettings> => ({
  ...defaultSettings,
  ...(await get<Partial<SamlSettings>>(keys.samlSettings)),
});

/** The settings while users can sign in with SAML. 1 read if the operator allows SAML, otherwise none. */
export const usableSettings = async (): Promise<SamlSettings | undefined> => {
  if (environment.organizationRules.samlAdministrators === undefined) return undefined;
  const settings = await getSettings();
  return settings.enabled ? settings : undefined;
};

/** Undefined when they changed since `before` was read. */
export const changeSettings = async (
  before: SamlSettings,
  change: Partial<SamlSettings>,
  userId: string,
): Promise<SamlSettings | undefined> => {
  const { privateKey, ...set } = change;
  const removesKey = 'privateKey' in change && privateKey === undefined;
  const edit = { set: { ...set, privateKey }, remove: removesKey ? ['privateKey'] : [] };
  const written = await update<SamlSettings>(keys.samlSettings, asEdit(edit, { userId, edits: before.edits ?? 0 }));
  return written && { ...defaultSettings, ...written };
};

const keyContext: SecretContext = { settings: 'saml', what: 'private key' };

export const sealKey = (key: string): Promise<Uint8Array> => seal(key, keyContext);

/** The private key (PEM), if there is one. One KMS request. */
export const openKey = async ({ privateKey }: SamlSettings): Promise<string | undefined> =>
  privateKey && open(privateKey, keyContext);

/** Label of the sign-in button, and name in messages. */
export const samlName = ({ providerType, ssoEndpointUrl }: SamlSettings): string => {
  if (providerType === 'okta') return 'Okta';
  return providerType === 'entra' ? 'Microsoft Entra ID' : new URL(ssoEndpointUrl).host;
};
