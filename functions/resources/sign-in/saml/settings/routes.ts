import { type Answer, ok } from '#api/answer.ts';
import { conflict, notFound } from '#api/errors.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { administersSaml } from '#resources/organizations/admission-rules.ts';
import { samlDocument } from './document.ts';
import { readChange } from './input.ts';
import { changeSettings, getSettings, type SamlSettings } from './records.ts';

/** SAML settings (Terraform Enterprise API: admin settings), for site administrators. Other callers get 404. */

/** @throws {ApiError} 404 */
const settingsFor = async ({ principal }: Call): Promise<SamlSettings> => {
  // Both are read for every caller, so that response times reveal nothing.
  const [settings, may] = await Promise.all([getSettings(), administersSaml(principal)]);
  if (may) return settings;
  throw notFound(
    "SAML settings not found, or you don't have access. Owners of the organization that the operator of this platform names in the setting samlAdministrators have it.",
  );
};

const write = async ({ principal }: Call, before: SamlSettings, change: Partial<SamlSettings>): Promise<Answer> => {
  const changed = await changeSettings(before, change, principal.userId);
  if (!changed) throw conflict('The SAML settings were changed by another request at the same time. Try again.');
  return ok(samlDocument(changed));
};

const read = async (call: Call) => ok(samlDocument(await settingsFor(call)));

const update = async (call: Call): Promise<Answer> => {
  const before = await settingsFor(call);
  return write(call, before, await readChange(call.request, before));
};

const revokeOldCertificate = async (call: Call): Promise<Answer> => {
  const before = await settingsFor(call);
  return write(call, before, { oldIdpCert: '' });
};

const path = '/admin/saml-settings';

export const samlSettingsRoutes: Route[] = [
  userRoute('GET', path, 'any user', read),
  userRoute('PATCH', path, 'any user', update),
  userRoute('POST', `${path}/actions/revoke-old-certificate`, 'any user', revokeOldCertificate),
];
