import * as v from 'valibot';
import { getUser, updateUser } from '../../../store/access/users.ts';
import { type Answer, ok } from '../../answer.ts';
import { accountDocument, userDocument } from '../../documents/users.ts';
import { notFound } from '../../errors.ts';
import { email, username } from '../../input/names.ts';
import { readData } from '../../input/validation.ts';
import { checkPerson } from '../../permissions/auth.ts';
import { type Call, type Route, userRoute } from '../../route.ts';

const noUser = () => notFound('There is no such user.');

const readAccount = async ({ principal }: Call): Promise<Answer> => {
  const user = await getUser(principal.userId);
  if (!user) throw noUser();
  return ok(accountDocument(user));
};

const updateAccount = async ({ request, principal }: Call): Promise<Answer> => {
  checkPerson(principal);
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

export const accountRoutes: Route[] = [
  userRoute('GET', '/account/details', 'any user', readAccount),
  userRoute('PATCH', '/account/update', 'any user', updateAccount),
  userRoute('GET', '/users/{user}', 'any user', readUser),
];
