import * as v from 'valibot';
import { type Answer, created, noContent, ok, type Resource } from '#api/answer.ts';
import { conflict, deletedMeanwhile, notFound, unprocessable } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { includable } from '#api/include.ts';
import { listLimit } from '#api/list-limit.ts';
import { list, pageFrom, pageOf, pageSlice, wholeList } from '#api/pagination.ts';
import { type Context, type Finder, noContentAfter, type Route, route } from '#api/route.ts';
import { readWhole } from '#api/validation.ts';
import { createLimited } from '#platform/store/limited.ts';
import { withPool } from '#resources/agents/pools/input.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { findOrganization, getOrganization } from '#resources/organizations/records.ts';
import { getPolicySets } from '#resources/policies/set-records.ts';
import { projectDocuments } from '#resources/projects/document.ts';
import { getProjects } from '#resources/projects/records.ts';
import { getWorkspaces } from '#resources/workspaces/records.ts';
import {
  changeProjects,
  createClient,
  getClient,
  keepSshKey,
  keepToken,
  listClients,
  listTokens,
  maxClients,
  type OauthClient,
  type OauthToken,
  serves,
  updateClient,
} from './connections.ts';
import { clientDocument, tokenDocument } from './document.ts';
import { endClient, endToken } from './end.ts';
import { oauthClient, oauthToken } from './finder.ts';
import { checkProjects, projectList, readClientChange, readNewClient, readTokenChange } from './input.ts';
import { isModule, isPolicySet, isWorkspace, listUses } from './repositories.ts';

/** Connections to version control (HCP API: OAuth clients, OAuth tokens). */

const includes = includable('oauth_tokens', 'projects');
const query = { include: includes };

const poolPointer = '/data/relationships/agent-pool';

const documents = async (
  { request, principal }: Pick<Context<InOrganization>, 'request' | 'principal'>,
  organizationName: string,
  clients: OauthClient[],
): Promise<{ data: Resource[]; included?: Resource[] }> => {
  const include = includes.of(request);
  const home = await getOrganization(organizationName);
  const around = { baseUrl: request.baseUrl, externalId: home?.externalId ?? '' };
  const data = clients.map((client) => clientDocument(client, around));
  if (include.size === 0) return { data };
  const included: Resource[] = [];
  if (include.has('oauth_tokens')) included.push(...(await listTokens(clients)).map(tokenDocument));
  if (include.has('projects')) {
    const ids = [...new Set(clients.flatMap(({ projectIds }) => [...(projectIds ?? [])]))];
    included.push(...(await projectDocuments(principal, await getProjects(ids))));
  }
  return { data, included };
};

const single = async (context: Context<OauthClient>, client: OauthClient): Promise<Answer> => {
  const { data, included } = await documents(context, client.organization, [client]);
  return withEtag(ok(data[0] as Resource, included), client);
};

const create = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const given = await readNewClient(request, subject.organization);
  const { organization: home } = subject;
  const limit = listLimit(home, maxClients, 'OAuth clients', async () => (await listClients(home)).length);
  const make = () => withPool(() => createClient(home, given.settings, given.issued), poolPointer);
  const client = await createLimited(limit, make, endClient);
  const { data } = await documents(context, subject.organization, [client]);
  return created(data[0] as Resource);
};

/** Clients of HCP Terraform expect the whole list unless they request a page. */
const listOfOrganization = async (context: Context<InOrganization>): Promise<Answer> => {
  const { request, subject } = context;
  const all = await listClients(subject.organization);
  const paged = request.query.has('page[number]') || request.query.has('page[size]');
  const page = pageOf(request);
  const { data, included } = await documents(context, subject.organization, paged ? pageSlice(all, page) : all);
  return paged ? list(request, page, all.length, data, included) : wholeList(request, data, included);
};

/** Checks that no follower loses access to the client. @throws {ApiError} 422 which names some of them */
const checkUsers = async (client: OauthClient, after: OauthClient): Promise<void> => {
  const followers = [...new Set((await listUses(client.id)).map(({ follower }) => follower))];
  const left = (await getWorkspaces(followers.filter(isWorkspace))).filter(
    ({ projectId, vcsRepo }) => vcsRepo?.clientId === client.id && !serves(after, projectId),
  );
  const sets = after.organizationScoped ? [] : await getPolicySets(followers.filter(isPolicySet));
  const modules = after.organizationScoped ? [] : followers.filter(isModule);
  if (left.length + sets.length + modules.length === 0) return;
  const names = [...left, ...sets].slice(0, 25).map(({ name }) => name);
  const some = [...names, ...(modules.length ? [`${modules.length} modules of the registry`] : [])].join(', ');
  throw unprocessable(
    '/data',
    `The OAuth client is used by followers outside of its projects: ${some}. Disconnect them first`,
  );
};

const update = async (context: Context<OauthClient>): Promise<Answer> => {
  const { request, subject } = context;
  const { settings, issued } = await readClientChange(request, subject);
  const editor = await editorOf(context, subject, 'OAuth client');
  if (settings.organizationScoped === false || settings.projectIds) {
    await checkUsers(subject, { ...subject, ...settings } as OauthClient);
  }
  const changes = Object.keys(settings).length > 0;
  const updated = changes ? await withPool(() => updateClient(subject, settings, editor), poolPointer) : subject;
  if (!updated) {
    const error = conflict('The OAuth client was changed by another request at the same time. Try again.');
    throw await refusedChange(request, 'OAuth client', await getClient(subject.id), error);
  }
  if (issued) {
    const token = await keepToken(updated, issued, issued.account);
    return single(context, { ...updated, tokenId: token.id });
  }
  return single(context, updated);
};

const remove = noContentAfter(endClient);

const projectsOf = async ({ request, subject }: Context<OauthClient>): Promise<Set<string>> => {
  const { data } = readWhole(request, v.object({ data: projectList }));
  if (data.length === 0) throw unprocessable('/data', 'data: name at least one project');
  return checkProjects(data, subject.organization);
};

const attach = async (context: Context<OauthClient>): Promise<Answer> => {
  if (!(await changeProjects(context.subject, { add: await projectsOf(context) }))) throw notFound();
  return noContent();
};

const detach = async (context: Context<OauthClient>): Promise<Answer> => {
  const { subject } = context;
  const ids = await projectsOf(context);
  const left = new Set([...(subject.projectIds ?? [])].filter((id) => !ids.has(id)));
  await checkUsers(subject, { ...subject, projectIds: left });
  if (!(await changeProjects(subject, { remove: ids }))) throw notFound();
  return noContent();
};

const tokensOfClient = async ({ request, subject }: Context<OauthClient>): Promise<Answer> =>
  wholeList(request, (await listTokens([subject])).map(tokenDocument));

const tokensOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const wanted = request.query.get('filter[provider]');
  const clients = (await listClients(subject.organization)).filter(
    ({ serviceProvider }) => !wanted || serviceProvider === wanted,
  );
  const tokens = await listTokens(clients);
  return pageFrom(request, tokens, tokenDocument);
};

const updateToken = async ({ request, subject }: Context<OauthToken>): Promise<Answer> => {
  const key = readTokenChange(request);
  const updated = key ? await keepSshKey(subject, key) : subject;
  if (!updated) throw deletedMeanwhile('OAuth token');
  return ok(tokenDocument(updated));
};

const removeToken = noContentAfter(endToken);

/** The organization of a new client, named in the body. */
const namedOrganization: Finder<InOrganization> = {
  ...organization,
  find: async (request) => {
    const body = request.json() as { data?: { attributes?: Record<string, unknown> } } | undefined;
    const name = body?.data?.attributes?.['organization-id'];
    const record = typeof name === 'string' ? await findOrganization(name) : undefined;
    return record && { organization: record.name, record };
  },
};

const ofOrganization = '/organizations/{organization}';
const ofClient = '/oauth-clients/{oauthClient}';
const ofToken = '/oauth-tokens/{oauthToken}';

export const connectionRoutes: Route[] = [
  route('GET', `${ofOrganization}/oauth-clients`, 'connection:read', organization, listOfOrganization, query),
  route('POST', `${ofOrganization}/oauth-clients`, 'connection:write', organization, create, query),
  route('POST', '/oauth-clients', 'connection:write', namedOrganization, create, query),
  route('GET', ofClient, 'connection:read', oauthClient, (context) => single(context, context.subject), query),
  route('PATCH', ofClient, 'connection:write', oauthClient, update, query),
  route('DELETE', ofClient, 'connection:write', oauthClient, remove),
  route('POST', `${ofClient}/relationships/projects`, 'connection:write', oauthClient, attach),
  route('DELETE', `${ofClient}/relationships/projects`, 'connection:write', oauthClient, detach),
  route('GET', `${ofClient}/oauth-tokens`, 'connection:read', oauthClient, tokensOfClient),
  route('GET', `${ofOrganization}/oauth-tokens`, 'connection:read', organization, tokensOfOrganization, {
    'filter[provider]': 'text',
  }),
  route('GET', ofToken, 'connection:read', oauthToken, async ({ subject }) => ok(tokenDocument(subject))),
  route('PATCH', ofToken, 'connection:write', oauthToken, updateToken),
  route('DELETE', ofToken, 'connection:write', oauthToken, removeToken),
];
