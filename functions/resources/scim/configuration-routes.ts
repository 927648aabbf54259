import * as v from 'valibot';
import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { conflict, notFound, unprocessable } from '#api/errors.ts';
import { byId, inOrganization } from '#api/finders.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { wholeList } from '#api/pagination.ts';
import { type Context, type Finder, type Route, route } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { getOrganization } from '#resources/organizations/records.ts';
import { accountOfScim, ensureScimAccount } from '#resources/users/accounts.ts';
import { tokenDocument } from '#resources/users/token-document.ts';
import { readToken } from '#resources/users/token-input.ts';
import { makeToken } from '#resources/users/token-routes.ts';
import { listTokens } from '#resources/users/tokens.ts';
import { configurationDocument } from './configuration-document.ts';
import {
  configurationId,
  createConfiguration,
  enableConfiguration,
  getConfiguration,
  type ScimConfiguration,
} from './configurations.ts';
import { removeProvisioning } from './removal.ts';

/** Provisioning of an organization, and its tokens (HCP API: SCIM configurations, SCIM tokens): for owners. */

const otherFields: OtherFields = { shown: 'base-url created-at updated-at', related: 'organization' };

const noConfiguration = () => notFound('SCIM configuration not found. Create it first.');

interface Configured extends InOrganization {
  configuration: ScimConfiguration | undefined;
}

const ofOrganization: Finder<Configured> = {
  ...organization,
  find: async (request) => {
    const home = await organization.find(request);
    return home && { ...home, configuration: await getConfiguration(configurationId(home.record)) };
  },
};

const needed = ({ subject }: Context<Configured>): ScimConfiguration => {
  if (subject.configuration) return subject.configuration;
  throw noConfiguration();
};

const read = async (context: Context<Configured>): Promise<Answer> =>
  ok(configurationDocument(needed(context), context.request));

const attributes = { enabled: v.optional(v.boolean()) };

const create = async ({ request, subject }: Context<Configured>): Promise<Answer> => {
  const fields = { enabled: v.optional(v.literal(true, 'must be true: disable it afterwards')) };
  if (request.text()) readData(request, fields, {}, otherFields);
  const configuration = await createConfiguration(subject.record);
  if (!configuration) throw conflict('The organization has a SCIM configuration. Change it instead.');
  return created(configurationDocument(configuration, request));
};

const update = async (context: Context<Configured>): Promise<Answer> => {
  const configuration = needed(context);
  const { enabled = configuration.enabled } = readData(context.request, attributes, {}, otherFields).attributes;
  const changed =
    enabled === configuration.enabled ? configuration : await enableConfiguration(configuration.id, enabled);
  if (!changed) throw noConfiguration();
  return ok(configurationDocument(changed, context.request));
};

const remove = async (context: Context<Configured>): Promise<Answer> => {
  if (needed(context).enabled) {
    throw conflict('Disable provisioning before you delete it: set enabled to false.');
  }
  await removeProvisioning(context.subject.record);
  return noContent();
};

const configuration = byId({
  what: 'SCIM configuration',
  parameter: 'scimConfiguration',
  get: getConfiguration,
  visibleWith: 'organization:manage-tokens',
  scope: inOrganization,
});

const homeOf = async ({ subject }: Context<ScimConfiguration>) => {
  const home = await getOrganization(subject.organization);
  if (!home) throw noConfiguration();
  return home;
};

const listOfTokens = async (context: Context<ScimConfiguration>): Promise<Answer> =>
  wholeList(
    context.request,
    (await listTokens(accountOfScim(await homeOf(context)))).map((token) => tokenDocument(token)),
  );

const dayMs = 86_400_000;
const minDays = 30;
const maxDays = 366;

const createToken = async (context: Context<ScimConfiguration>): Promise<Answer> => {
  const { expiredAt } = readToken(context.request);
  const days = expiredAt === null ? maxDays : (Date.parse(expiredAt) - Date.now()) / dayMs;
  // With tolerance for the time since the client computed it.
  if (days < minDays - 1 || days > maxDays) {
    throw unprocessable('/data/attributes/expired-at', 'expired-at: must be between 30 days and one year from now');
  }
  const home = await homeOf(context);
  const userId = await ensureScimAccount(home);
  return makeToken(context, { kind: 'scim', userId, organization: home.name });
};

const path = '/organizations/{organization}/scim-configuration';
const tokens = '/scim-configurations/{scimConfiguration}/authentication-tokens';

export const scimConfigurationRoutes: Route[] = [
  route('GET', path, 'organization:manage-tokens', ofOrganization, read),
  route('POST', path, 'organization:manage-tokens', ofOrganization, create),
  route('PATCH', path, 'organization:manage-tokens', ofOrganization, update),
  route('DELETE', path, 'organization:manage-tokens', ofOrganization, remove),
  route('GET', tokens, 'organization:manage-tokens', configuration, listOfTokens),
  route('POST', tokens, 'organization:manage-tokens', configuration, createToken),
];
