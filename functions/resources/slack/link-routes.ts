import { type Answer, noContent, ok, one } from '#api/answer.ts';
import { badRequest, conflict, notFound } from '#api/errors.ts';
import { wholeList } from '#api/pagination.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import { type Call, type Context, type Route, route, userRoute } from '#api/route.ts';
import { readData, text } from '#api/validation.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { redeemLoginCode } from '#resources/users/login-codes.ts';
import { linkAccount, linksOf, type OwnLink, unlinkAccount } from './links.ts';
import { getSlackApp } from './records.ts';

/** The caller's Slack accounts, one for each organization with a Slack app. Stepform's own routes. */

export const slackLinkDocument = ({ app, link }: OwnLink) => ({
  id: app.id,
  type: 'slack-links',
  attributes: {
    'team-id': app.teamId,
    /** Null while no account is connected. */
    'user-id': link?.userId ?? null,
    'linked-at': link?.linkedAt ?? null,
    /** Where a browser begins, with a PKCE challenge. */
    'connect-path': `/slack/${app.id}/connect`,
  },
  relationships: { organization: one('organizations', app.organization) },
});

const listOwn = async ({ request, principal }: Call): Promise<Answer> => {
  checkPerson(principal);
  return wholeList(request, (await linksOf(principal.userId)).map(slackLinkDocument));
};

const attributes = { code: text(200), 'code-verifier': text(200) };
const otherFields = { shown: 'team-id user-id linked-at connect-path', related: 'organization' };

/** Completes a connection that this caller's page began. */
const connect = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  checkPerson(principal);
  const { code, 'code-verifier': verifier } = readData(request, attributes, {}, otherFields).attributes;
  const app = await getSlackApp(subject.organization);
  if (!app) throw notFound('This organization has no Slack app.');
  const grant = await redeemLoginCode(code, { verifier, redirectUri: 'page' });
  const account = grant && 'slack' in grant.by ? grant.by.slack : undefined;
  if (account?.appId !== app.id || account.teamId !== app.teamId) {
    throw badRequest('The code is unknown, used or expired. Connect Slack again.');
  }
  const link = await linkAccount(app, account, principal.userId);
  if (!link) throw conflict('Your membership ended at the same time.');
  return ok(slackLinkDocument({ app, link }));
};

const disconnect = async ({ subject, principal }: Context<InOrganization>): Promise<Answer> => {
  if (!(await unlinkAccount(subject.organization, principal.userId))) {
    throw notFound('You have not connected a Slack account in this organization.');
  }
  return noContent();
};

const path = '/organizations/{organization}/slack-link';

export const slackLinkRoutes: Route[] = [
  userRoute('GET', '/account/slack-links', 'any user', listOwn),
  route('PUT', path, 'organization:read', organization, connect),
  route('DELETE', path, 'organization:read', organization, disconnect),
];
