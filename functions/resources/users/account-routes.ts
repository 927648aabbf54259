import * as v from 'valibot';
import { type Answer, json, ok } from '#api/answer.ts';
import { notFound, unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import { email, username } from '#api/names.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { type Key, keys } from '#platform/store/keys.ts';
import { batchGet } from '#platform/store/table.ts';
import { now } from '#platform/store/time.ts';
import { mayCreateOrganizations } from '#resources/organizations/admission-rules.ts';
import { bannerDocument } from '#resources/organizations/banners/document.ts';
import { activeBanner, type Banners } from '#resources/organizations/banners/records.ts';
import { hasVerified } from './invitations.ts';
import type { User } from './user.ts';
import { accountDocument, userDocument } from './user-document.ts';
import { maxUsernames, takeUsername } from './usernames.ts';
import { confirmEmail, enterEmail, getUser } from './users.ts';

const otherFields: OtherFields = {
  shown: `auth-method avatar-url enterprise-support has-git-hub-app-token has-linked-hcp is-admin is-confirmed
      is-service-account is-site-admin is-sso-login is-sudo is-unified permissions two-factor unconfirmed-email v2-only`,
  related: 'authenticated-resource authentication-tokens github-app-oauth-tokens',
  lacking: { password: 'users sign in with tokens or single sign-on' },
};

const noUser = () => notFound('User not found.');

const account = async (user: User): Promise<Answer> =>
  ok(accountDocument(user, !user.service && (await mayCreateOrganizations(user.id))));

/** The account and the current banner in one request: the page loads this first. */
const readAccount = async ({ principal }: Call): Promise<Answer> => {
  const items = await batchGet<Key>([keys.user(principal.userId), keys.banners]);
  const user = items.find(({ sk }) => sk !== keys.banners.sk) as (User & Key) | undefined;
  if (!user) throw noUser();
  const { banners = [] } = (items.find(({ sk }) => sk === keys.banners.sk) ?? {}) as Partial<Banners>;
  const at = now();
  const banner = activeBanner(banners, at);
  const answer = await account(user);
  if (!banner) return answer;
  return json(200, { ...JSON.parse(answer.body ?? '{}'), meta: { banner: bannerDocument(banner, at).attributes } });
};

const rename = async ({ principal }: Call, username: string): Promise<User> => {
  const pointer = '/data/attributes/username';
  const user = await takeUsername({ id: principal.userId }, username);
  if (user === 'taken') throw unprocessable(pointer, 'username: has already been taken');
  if (user === 'too many') {
    throw unprocessable(
      pointer,
      `username: you have used ${maxUsernames} names, the maximum. Choose one of your earlier names`,
    );
  }
  return user;
};

/**
 * An address that neither the issuer nor the operator verified stays unconfirmed, as in HCP Terraform, because
 * templates, runs and e-mails would trust it.
 */
const changeEmail = async (userId: string, email: string): Promise<void> => {
  const user = await getUser(userId);
  if (!user) throw noUser();
  await ((await hasVerified(user, email)) ? confirmEmail(user, email) : enterEmail(userId, email));
};

const updateAccount = async (call: Call): Promise<Answer> => {
  const { request, principal } = call;
  checkPerson(principal);
  const { attributes } = readData(
    request,
    { username: v.optional(username), email: v.optional(email) },
    {},
    otherFields,
  );
  if (attributes.username !== undefined) await rename(call, attributes.username);
  if (attributes.email !== undefined) await changeEmail(principal.userId, attributes.email);
  const user = await getUser(principal.userId);
  if (!user) throw noUser();
  return account(user);
};

const readUser = async ({ request, principal }: Call): Promise<Answer> => {
  const user = await getUser(request.params.user ?? '');
  if (!user) throw noUser();
  return user.id === principal.userId ? account(user) : ok(userDocument(user));
};

export const accountRoutes: Route[] = [
  userRoute('GET', '/account/details', 'any user', readAccount),
  userRoute('PATCH', '/account/update', 'any user', updateAccount),
  userRoute('GET', '/users/{user}', 'any user', readUser),
];
