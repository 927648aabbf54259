import { type Answer, noContent } from '#api/answer.ts';
import { conflict, notFound } from '#api/errors.ts';
import { wholeList } from '#api/pagination.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { forgetIdentity, identitiesOf, identityId, type LinkedIdentity } from './identities.ts';
import { noteUnlinked } from './sso-required.ts';
import { listTokens } from './tokens.ts';

/** Identities at the issuer that sign in as the caller. Stepform's own routes; HCP Terraform has no such list. */

export const identityDocument = (identity: LinkedIdentity) => ({
  id: identityId(identity),
  type: 'identities',
  attributes: { issuer: identity.issuer, subject: identity.subject, 'created-at': identity.createdAt },
});

const listOwn = async ({ request, principal }: Call): Promise<Answer> => {
  checkPerson(principal);
  return wholeList(request, (await identitiesOf(principal.userId)).map(identityDocument));
};

/** Ends the sessions of the identity. The last way to sign in cannot be removed. */
const disconnect = async ({ request, principal }: Call): Promise<Answer> => {
  checkPerson(principal);
  const { userId } = principal;
  const all = await identitiesOf(userId);
  const linked = all.find((identity) => identityId(identity) === request.params.identity);
  if (!linked) throw notFound("Identity not found, or you don't have access.");
  if (all.length === 1 && (await listTokens(userId)).length === 0) {
    throw conflict('This identity is your only way to sign in. Create an API token or connect another identity first.');
  }
  if (all.length === 1) await noteUnlinked(userId);
  if (!(await forgetIdentity(linked, userId))) throw notFound('The identity was disconnected at the same time.');
  return noContent();
};

export const identityRoutes: Route[] = [
  userRoute('GET', '/account/identities', 'any user', listOwn),
  userRoute('DELETE', '/account/identities/{identity}', 'any user', disconnect),
];
