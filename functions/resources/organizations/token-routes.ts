import * as v from 'valibot';
import { type Answer, noContent, ok } from '#api/answer.ts';
import { badRequest, notFound } from '#api/errors.ts';
import type { QueryParameters } from '#api/query-parameters.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Context, type Route, route } from '#api/route.ts';
import {
  accountOfAuditTrail,
  accountOfOrganization,
  ensureAuditTrailAccount,
  ensureOrganizationAccount,
} from '#resources/users/accounts.ts';
import { tokenDocument } from '#resources/users/token-document.ts';
import { readToken } from '#resources/users/token-input.ts';
import { makeToken } from '#resources/users/token-routes.ts';
import { deleteToken, deleteTokensOf, listTokens, type Token } from '#resources/users/tokens.ts';
import { type InOrganization, organization } from './finder.ts';
import type { Organization } from './records.ts';

/** The organization's API token and its audit trail token, one of each (HCP API: organization tokens). */

interface Sort {
  kind: 'organization' | 'audit-trails';
  account(home: Organization): string;
  ensure(home: Organization): Promise<string>;
}

const ofOrganization: Sort = {
  kind: 'organization',
  account: accountOfOrganization,
  ensure: ensureOrganizationAccount,
};
const ofAuditTrail: Sort = { kind: 'audit-trails', account: accountOfAuditTrail, ensure: ensureAuditTrailAccount };

const sorts = v.picklist(['organization', 'audit-trails', 'audit_trails']);

const sortOf = ({ query }: ApiRequest): Sort => {
  const { success, output } = v.safeParse(sorts, query.get('token') || 'organization');
  if (!success) throw badRequest('token: must be audit-trails, or omitted for the organization token', 'token');
  return output === 'organization' ? ofOrganization : ofAuditTrail;
};

const find = async ({ request, subject }: Context<InOrganization>): Promise<Token> => {
  const [token] = await listTokens(sortOf(request).account(subject.record));
  if (!token) throw notFound('Token not found. Create it first.');
  return token;
};

const read = async (context: Context<InOrganization>): Promise<Answer> => ok(tokenDocument(await find(context)));

/** The former token stops working. */
const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const { kind, ensure } = sortOf(request);
  // Validates before writing, so that a rejected request creates no account.
  readToken(request);
  const userId = await ensure(subject.record);
  const former = await listTokens(userId);
  const answer = await makeToken(context, { kind, userId, organization: subject.organization, description: null });
  for (const { id } of former) await deleteToken(userId, id);
  return answer;
};

const remove = async (context: Context<InOrganization>): Promise<Answer> => {
  const { userId } = await find(context);
  await deleteTokensOf(userId);
  return noContent();
};

const path = '/organizations/{organization}/authentication-token';
const kindOfToken: QueryParameters = { token: 'text' };

export const organizationTokenRoutes: Route[] = [
  route('GET', path, 'organization:manage-tokens', organization, read, kindOfToken),
  route('POST', path, 'organization:manage-tokens', organization, create, kindOfToken),
  route('DELETE', path, 'organization:manage-tokens', organization, remove, kindOfToken),
];
