import { type Answer, noContent, ok, type Resource } from '#api/answer.ts';
import { conflict, forbidden, notFound, unavailable, unprocessable } from '#api/errors.ts';
import { inOrganization, param } from '#api/finders.ts';
import { nameOf } from '#api/naming.ts';
import { list, type Page, pageFrom, pageOf, pageSlice } from '#api/pagination.ts';
import { checkPerson } from '#api/permissions/principal.ts';
import type { ApiRequest } from '#api/request.ts';
import { type Call, type Context, type Finder, noContentAfter, type Route, route, userRoute } from '#api/route.ts';
import { readData } from '#api/validation.ts';
import { environment } from '#platform/environment.ts';
import { foldCase } from '#platform/store/fold-case.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { listOrganizations } from '#resources/organizations/records.ts';
import { accessBy } from '../access.ts';
import { asForgeError } from '../call.ts';
import { checkConnects } from '../repository-routes.ts';
import { authorizationOf, authorizationRoutes, requireApp } from './authorization.ts';
import {
  getInstallation,
  type Installation,
  linkInstallation,
  listInstallations,
  unlinkInstallation,
} from './installations.ts';
import { linkableInstallation, type OwnInstallation, ownInstallations } from './person.ts';
import { type InstalledRepository, pageOfRepositories } from './repositories.ts';

/** Installations of the platform's GitHub App (HCP API: GitHub App installations). */

const installation: Finder<Installation> = {
  what: 'GitHub App installation',
  parameter: 'installation',
  find: (request) => getInstallation(param(request, 'installation')),
  visibleWith: 'connection:read',
  scope: inOrganization,
};

const document = (one: OwnInstallation & Partial<Installation>): Resource => ({
  id: one.id,
  type: 'github-app-installations',
  attributes: {
    name: one.account.login,
    'installation-id': one.installationId,
    'icon-url': one.account.iconUrl,
    'installation-type': one.account.type,
    'installation-url': one.url,
    /** Not in HCP's API: the organization that linked it, and the reason why it cannot be used. */
    organization: one.organization ? nameOf(one.organization) : null,
    'error-message': one.uninstalledAt ? 'uninstalled' : one.suspendedAt ? 'suspended' : null,
  },
  links: { self: `/api/v2/github-app/installation/${one.id}` },
});

/** Linked installations of organizations whose connections the caller may see. 1 query per organization. */
const linkedFor = async (principal: Call['principal']): Promise<Installation[]> => {
  const all = await listOrganizations(principal.userId);
  const found = await Promise.all(
    all.map(async ({ name }) => {
      const granted = await principal.on({ organization: name });
      return granted.has('connection:read') ? listInstallations(name) : [];
    }),
  );
  return found.flat();
};

/** Installations of the caller's organizations, and those that the caller's GitHub account can access. */
const listForCaller = async ({ request, principal }: Call): Promise<Answer> => {
  const app = environment.githubApp;
  const linked = app ? await linkedFor(principal) : [];
  const own = app ? await ownInstallations(app, principal.userId) : [];
  const known = new Set(linked.map(({ id }) => id));
  const all: (OwnInstallation & Partial<Installation>)[] = [...linked, ...own.filter(({ id }) => !known.has(id))];
  const [name, number] = ['filter[name]', 'filter[installation_id]'].map((filter) => request.query.get(filter));
  const fitting = all.filter(
    (one) =>
      (!name || foldCase(one.account.login) === foldCase(name)) && (!number || String(one.installationId) === number),
  );
  return pageFrom(request, fitting, document);
};

const listOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const app = environment.githubApp;
  const all = app ? await listInstallations(subject.organization) : [];
  const page = pageOf(request);
  // Not in HCP's API: null means that there is no app.
  const meta = { 'install-url': app ? `${app.url}/apps/${app.slug}/installations/new` : null };
  return list(request, page, all.length, pageSlice(all, page).map(document), undefined, meta);
};

const repositoryDocument = (one: InstalledRepository, { installationId }: Installation): Resource => ({
  id: one.id,
  type: 'github-app-repos',
  attributes: {
    name: one.name,
    identifier: one.full_name,
    'installation-id': String(installationId),
    private: one.private,
  },
});

/** @throws {ApiError} 422 with GitHub's message, 503 while GitHub's rate limit is exhausted */
const repositoriesOf = async ({ id }: Installation, page: Page) => {
  try {
    const { call } = await accessBy(id);
    return await pageOfRepositories(call, '/installation/repositories', page);
  } catch (error) {
    const { failure, message } = asForgeError('GitHub', error);
    throw failure === 'limited' ? unavailable(message) : unprocessable('/data', message);
  }
};

const listRepositories = async (request: ApiRequest, one: Installation): Promise<Answer> => {
  const page = pageOf(request);
  const { total, items } = await repositoriesOf(one, page);
  return list(
    request,
    page,
    total,
    items.map((item) => repositoryDocument(item, one)),
  );
};

const repositoriesOfInstallation = async (context: Context<Installation>): Promise<Answer> => {
  await checkConnects(context);
  return listRepositories(context.request, context.subject);
};

/** @throws {ApiError} 404 for an installation of another organization */
const linkedHere = async ({ request, subject }: Context<InOrganization>): Promise<Installation> => {
  const found = await getInstallation(param(request, 'installation'));
  if (found?.organization === subject.organization) return found;
  throw notFound("GitHub App installation not found, or you don't have access.");
};

const repositoriesInOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  await checkConnects(context);
  return listRepositories(context.request, await linkedHere(context));
};

/** Requires the caller's own authorization, because installation ids can be guessed. */
const link = async ({ request, subject, principal }: Context<InOrganization>): Promise<Answer> => {
  checkPerson(principal);
  if (JSON.stringify(request.json() ?? {}) !== '{}') readData(request, {}, {}, { shown: '', related: '' });
  const app = requireApp();
  const own = await linkableInstallation(app, principal.userId, param(request, 'installation'));
  if (!own) throw notFound('Installation not found, or your GitHub account has no access to it.');
  if (await linkInstallation(own, subject.organization, principal.userId)) return noContent();
  throw conflict(
    `The installation for ${own.account.login} is linked to another organization, or was unlinked a moment ago. Unlink it there, or try again in a minute.`,
  );
};

const unlink = noContentAfter(async (_: InOrganization, context) => unlinkInstallation(await linkedHere(context)));

/** Present while the authorization is valid. */
const ownTokens = async ({ request, principal }: Call): Promise<Answer> => {
  if (param(request, 'user') !== principal.userId) throw forbidden('You can only see your own authorization.');
  const found = environment.githubApp ? await authorizationOf(principal.userId) : undefined;
  const all: Resource[] = found
    ? [
        {
          id: found.id,
          type: 'github-app-oauth-tokens',
          attributes: { 'created-at': found.createdAt, 'github-username': found.account.name },
          relationships: { user: { data: { id: found.userId, type: 'users' } } },
        },
      ]
    : [];
  return pageFrom(request, all, (document) => document);
};

const filters = { 'filter[name]': 'text', 'filter[installation_id]': 'text' } as const;
const ofOrganization = '/organizations/{organization}/github-app-installations';
const read = 'connection:read';
const write = 'connection:write';

export const githubAppRoutes: Route[] = [
  userRoute('GET', '/github-app/installations', 'any user', listForCaller, filters),
  userRoute('GET', '/github-app-installations', 'any user', listForCaller, filters),
  userRoute('GET', '/users/{user}/github-app-oauth-tokens', 'any user', ownTokens),
  route('GET', '/github-app/installation/{installation}', read, installation, async ({ subject }) =>
    ok(document(subject)),
  ),
  route('GET', '/github-app-installations/{installation}/repos', read, installation, repositoriesOfInstallation),
  route('GET', ofOrganization, read, organization, listOfOrganization),
  route('GET', `${ofOrganization}/{installation}/repos`, read, organization, repositoriesInOrganization),
  route('POST', `${ofOrganization}/{installation}/link-account`, write, organization, link),
  route('DELETE', `${ofOrganization}/{installation}`, write, organization, unlink),
  ...authorizationRoutes,
];
