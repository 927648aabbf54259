import type { XmlElement } from '@xmldom/xmldom';
import { environment } from '#platform/environment.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import type { Person } from '#resources/users/person.ts';
import { SamlError } from '../error.ts';
import type { SamlSettings } from '../settings/records.ts';
import { attributeOf, listOf, neededOf, textIn } from '../xml/parse.ts';
import type { Checked } from './checks.ts';

/** The person in a checked assertion, by the attributes of Terraform Enterprise (Terraform Enterprise: SAML attributes). */

/** Keeps identities apart from those of OpenID Connect issuers, which can have the same address. */
const issuerPrefix = 'saml:';

const formats = {
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
};

/** Values by attribute name; an attribute may be split over several elements. */
const attributesOf = (assertion: XmlElement): Map<string, string[]> => {
  const values = new Map<string, string[]>();
  for (const statement of listOf(assertion, 'assertion', 'AttributeStatement')) {
    for (const attribute of listOf(statement, 'assertion', 'Attribute')) {
      const name = attributeOf(attribute, 'Name') ?? '';
      const more = listOf(attribute, 'assertion', 'AttributeValue').map(textIn);
      values.set(name, [...(values.get(name) ?? []), ...more]);
    }
  }
  return values;
};

/** @throws {SamlError} for several values, because another reader might take another one */
const single = (values: Map<string, string[]>, name: string): string | undefined => {
  const [first, ...others] = values.get(name) ?? [];
  if (others.length > 0) throw new SamlError(`its attribute ${name} has several values`);
  return first || undefined;
};

const isYes = (text: string | undefined): boolean | undefined =>
  text === undefined ? undefined : ['true', '1'].includes(text.toLowerCase());

const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

/** @throws {SamlError} */
export const personIn = (assertion: XmlElement, checked: Checked, settings: SamlSettings): Person => {
  const nameId = neededOf(checked.subject, 'assertion', 'NameID');
  const format = attributeOf(nameId, 'Format');
  const subject = textIn(nameId);
  if (!subject || subject.length > 256) throw new SamlError('its NameID is empty or has more than 256 characters');
  if (format === formats.transient)
    throw new SamlError(
      'its NameID is transient, so that you would be another user each time. Configure a persistent one',
    );
  const values = attributesOf(assertion);
  const claimed = single(values, 'email') ?? (format === formats.email ? subject : undefined);
  const email = claimed !== undefined && isAddress(claimed) ? foldCase(claimed) : undefined;
  const groups = settings.teamManagementEnabled ? values.get(settings.attrGroups)?.filter(Boolean) : undefined;
  return {
    issuer: `${issuerPrefix}${checked.issuer}`,
    subject,
    email,
    emailVerified: email !== undefined && environment.signIn?.trustEmails === true,
    username: single(values, settings.attrUsername),
    // No attribute: in no group, as after the last one was taken away.
    groups: settings.teamManagementEnabled ? (groups ?? []) : undefined,
    isSiteAdmin: isYes(single(values, settings.attrSiteAdmin)) ?? groups?.includes(settings.siteAdminRole),
    sessionEndsAt: checked.sessionEnd === undefined ? undefined : new Date(checked.sessionEnd).toISOString(),
    tokensLastSeconds: settings.ssoApiTokenSessionTimeout,
  };
};
