import * as v from 'valibot';
import { type Answer, ok, one } from '#api/answer.ts';
import { conflict, notFound, unprocessable } from '#api/errors.ts';
import { nameOf } from '#api/naming.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { readData, setting, text } from '#api/validation.ts';
import { environment } from '#platform/environment.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { isSlackUrl, slackUrls } from './address.ts';
import {
  changeSlackApp,
  createSlackApp,
  deleteSlackApp,
  getSlackApp,
  type SlackApp,
  type SlackSecrets,
} from './records.ts';

/** The Slack app of an organization, for owners. Stepform's own routes; HCP Terraform has no buttons in Slack. */

const home = (): string => environment.signIn?.baseUrl ?? environment.publicUrl;

/** Where Slack sends clicks, and where it redirects after a sign-in. */
const interactionPath = (id: string): `/${string}` => `/slack/${id}/interactions`;
export const callbackPath = (id: string): `/${string}` => `/slack/${id}/callback`;

export const slackAppDocument = (app: SlackApp) => ({
  id: app.id,
  type: 'slack-apps',
  attributes: {
    url: app.url,
    'team-id': app.teamId,
    'client-id': app.clientId,
    'client-secret': null,
    'signing-secret': null,
    'interactions-url': `${home()}${interactionPath(app.id)}`,
    'redirect-url': `${home()}${callbackPath(app.id)}`,
    'created-at': app.createdAt,
    'updated-at': app.updatedAt,
  },
  relationships: { organization: one('organizations', app.organization) },
  links: { self: `/api/v2/organizations/${nameOf(app.organization)}/slack-app` },
});

const secret = setting(v.pipe(text(200), v.trim(), v.minLength(16, 'must have at least 16 characters')));

const attributes = {
  url: v.optional(v.pipe(v.string(), v.check(isSlackUrl, `must be ${slackUrls.join(' or ')}`))),
  'team-id': v.pipe(v.string(), v.regex(/^T[A-Z0-9]{1,30}$/, 'must be the id of a Slack workspace, such as T012AB3C4')),
  'client-id': v.pipe(v.string(), v.regex(/^[\w.-]{1,100}$/, 'must be the client id of a Slack app')),
  'client-secret': secret,
  'signing-secret': secret,
};

const otherFields = { shown: 'interactions-url redirect-url created-at updated-at', related: 'organization' };

const read = async ({ subject }: Context<InOrganization>): Promise<Answer> => {
  const app = await getSlackApp(subject.organization);
  if (!app) throw notFound('This organization has no Slack app. Set one with PUT.');
  return ok(slackAppDocument(app));
};

const needed = (name: string, value: string | null | undefined): string => {
  if (value) return value;
  throw unprocessable(`/data/attributes/${name}`, `${name}: is missing`);
};

const set = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const { attributes: given } = readData(request, attributes, {}, otherFields);
  const [clientSecret, signingSecret] = [given['client-secret'], given['signing-secret']];
  const before = await getSlackApp(subject.organization);
  const url = given.url ?? before?.url ?? slackUrls[0];
  const settings = { url, teamId: given['team-id'], clientId: given['client-id'] };
  // Secrets are never sent to another address than the one that they were given with.
  const keeps = before?.url === url;
  const secrets = {
    clientSecret: keeps ? (clientSecret ?? undefined) : needed('client-secret', clientSecret),
    signingSecret: keeps ? (signingSecret ?? undefined) : needed('signing-secret', signingSecret),
  };
  const app = before
    ? await changeSlackApp(subject.organization, settings, secrets)
    : await createSlackApp(subject.record, settings, secrets as SlackSecrets);
  if (!app) throw conflict('The Slack app was set or removed by another request at the same time. Try again.');
  return ok(slackAppDocument(app));
};

const end = noContentAfter(({ record }: InOrganization) => deleteSlackApp(record));

const path = '/organizations/{organization}/slack-app';

export const slackAppRoutes: Route[] = [
  route('GET', path, 'organization:update', organization, read),
  route('PUT', path, 'organization:update', organization, set),
  route('DELETE', path, 'organization:update', organization, end),
];
