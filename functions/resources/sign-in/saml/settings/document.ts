import { acsUrl, metadataUrl } from '../addresses.ts';
import type { SamlSettings } from './records.ts';

/** Terraform Enterprise's document; the private key is never shown. */
export const samlDocument = (settings: SamlSettings) => ({
  id: 'saml',
  type: 'saml-settings',
  attributes: {
    enabled: settings.enabled,
    debug: settings.debug,
    'authn-requests-signed': settings.authnRequestsSigned,
    'want-assertions-signed': settings.wantAssertionsSigned,
    'team-management-enabled': settings.teamManagementEnabled,
    'old-idp-cert': settings.oldIdpCert || null,
    'idp-cert': settings.idpCert || null,
    /** Not in Terraform Enterprise's API, which does not check the issuer. */
    'idp-entity-id': settings.idpEntityId || null,
    'slo-endpoint-url': settings.sloEndpointUrl || null,
    'sso-endpoint-url': settings.ssoEndpointUrl || null,
    'attr-username': settings.attrUsername,
    'attr-groups': settings.attrGroups,
    'attr-site-admin': settings.attrSiteAdmin,
    'site-admin-role': settings.siteAdminRole,
    'sso-api-token-session-timeout': settings.ssoApiTokenSessionTimeout,
    'acs-consumer-url': acsUrl(),
    'metadata-url': metadataUrl(),
    certificate: settings.certificate || null,
    'private-key': null,
    'signature-signing-method': 'SHA256',
    'signature-digest-method': 'SHA256',
    'provider-type': settings.providerType,
  },
});
