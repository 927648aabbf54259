import * as v from 'valibot';
import { createToken, deleteToken, getToken, listTokens } from '../../store/access/tokens.ts';
import { getUser, updateUser } from '../../store/access/users.ts';
import { type Answer, created, noContent, ok } from '../answer.ts';
import { accountDocument, tokenDocument, userDocument } from '../documents/users.ts';
import { notFound, unprocessable } from '../errors.ts';
import { email, username } from '../input/names.ts';
import { readData, setting, text } from '../input/validation.ts';
import { wholeList } from '../pagination.ts';
import { type Call, type Route, userRoute } from '../route.ts';

const noUser = () => notFound('There is no such user.');

const readAccount = async ({ principal }: Call): Promise<Answer> => {
  const user = await getUser(principal.userId);
  if (!user) throw noUser();
  return ok(accountDocument(user));
};

const updateAccount = async ({ request, principal }: Call): Promise<Answer> => {
  const { attributes } = readData(request, { username: v.optional(username), email: v.optional(email) });
  const user = await updateUser(principal.userId, attributes);
  if (!user) throw noUser();
  return ok(accountDocument(user));
};

const readUser = async ({ request, principal }: Call): Promise<Answer> => {
  const user = await getUser(request.params.user ?? '');
  if (!user) throw noUser();
  return ok(user.id === principal.userId ? accountDocument(user) : userDocument(user));
};

/** Tokens are their user's own business. */
const ownTokens = ({ request, principal }: Call): string => {
  if (request.params.user !== principal.userId) throw noUser();
  return principal.userId;
};

const listUserTokens = async (call: Call): Promise<Answer> =>
  wholeList(
    call.request,
    (await listTokens(ownTokens(call))).map((token) => tokenDocument(token)),
  );

const time = v.pipe(v.string(), v.isoTimestamp('must be a time such as 2030-01-31T00:00:00.000Z'));

const createUserToken = async (call: Call): Promise<Answer> => {
  const userId = ownTokens(call);
  const { attributes } = readData(call.request, { description: setting(text(250)), 'expired-at': setting(time) });
  const given = attributes['expired-at'];
  const expiredAt = given ? new Date(given).toISOString() : null;
  if (expiredAt && expiredAt <= new Date().toISOString()) {
    throw unprocessable('/data/attributes/expired-at', 'expired-at: is in the past');
  }
  const { token, secret } = await createToken(userId, attributes.description ?? '', expiredAt);
  return created(tokenDocument(token, secret));
};

const noToken = () => notFound('There is no such token.');

const readUserToken = async ({ request, principal }: Call): Promise<Answer> => {
  const token = await getToken(principal.userId, request.params.token ?? '');
  if (!token) throw noToken();
  return ok(tokenDocument(token));
};

const deleteUserToken = async ({ request, principal }: Call): Promise<Answer> => {
  if (!(await deleteToken(principal.userId, request.params.token ?? ''))) throw noToken();
  return noContent();
};

export const accountRoutes: Route[] = [
  userRoute('GET', '/account/details', 'any user', readAccount),
  userRoute('PATCH', '/account/update', 'any user', updateAccount),
  userRoute('GET', '/users/{user}', 'any user', readUser),
  userRoute('GET', '/users/{user}/authentication-tokens', 'any user', listUserTokens),
  userRoute('POST', '/users/{user}/authentication-tokens', 'any user', createUserToken),
  userRoute('GET', '/authentication-tokens/{token}', 'any user', readUserToken),
  userRoute('DELETE', '/authentication-tokens/{token}', 'any user', deleteUserToken),
];
