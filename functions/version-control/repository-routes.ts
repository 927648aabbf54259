import { type Answer, json } from '#api/answer.ts';
import { badRequest, forbidden, notFound, unavailable, unprocessable } from '#api/errors.ts';
import { pageOf } from '#api/pagination.ts';
import { type Context, type Route, route, type Subject } from '#api/route.ts';
import type { InOrganization } from '#resources/organizations/finder.ts';
import { organization } from '#resources/organizations/finder.ts';
import { eachProject } from '#resources/projects/records.ts';
import { isBranch, isIdentifier } from '#resources/workspaces/vcs-repo-input.ts';
import { type Access, accessBy } from './access.ts';
import { asForgeError } from './call.ts';
import { getClient, getToken, type OauthClient, type OauthToken, serves } from './connections.ts';
import { oauthToken } from './finder.ts';
import { getInstallation, isInstallation } from './github-app/installations.ts';

/** Lists the repositories and branches that a connection can access (HCP API: OAuth tokens, authorized repositories). */

/**
 * Requires permission to connect a workspace, module or policy set through the connection.
 * @param client may serve only some projects; absent for an installation, which serves all projects
 * @throws {ApiError} 403
 */
export const checkConnects = async (
  { principal, granted, subject }: Context<Subject>,
  client?: OauthClient,
): Promise<void> => {
  if (granted.has('connection:write') || granted.has('workspace:create')) return;
  // Policy sets belong to no project.
  if (granted.has('policy:write') && (client?.organizationScoped ?? true)) return;
  for await (const all of eachProject(subject.organization)) {
    const projects = client ? all.filter(({ id }) => serves(client, id)) : all;
    const on = await principal.onProjects(subject.organization, projects);
    if (projects.some(({ id }) => on(id).has('workspace:update') || on(id).has('workspace:create'))) return;
  }
  throw forbidden(
    'Listing the repositories of a connection requires the permission connection:write, or workspace:update in a project that may use it.',
  );
};

/** @throws {ApiError} 422 with the forge's message, 503 while the forge's rate limit is exhausted */
const whileAsking = async <T>(
  tokenId: string,
  ask: (access: Access) => Promise<T>,
  repository?: string,
): Promise<T> => {
  let name = 'Version control';
  try {
    const access = await accessBy(tokenId, { repository });
    name = access.name;
    return await ask(access);
  } catch (error) {
    const { failure, message } = asForgeError(name, error);
    if (failure === 'limited') throw unavailable(message);
    throw unprocessable('/data', message);
  }
};

const authorized = async (context: Context<OauthToken>): Promise<Answer> => {
  await checkConnects(context, await getClient(context.subject.clientId));
  const { page } = pageOf(context.request);
  const { items, next } = await whileAsking(context.subject.id, ({ forge, call }) => forge.repositories(call, page));
  const data = items.map(({ identifier, defaultBranch }) => ({
    id: identifier,
    type: 'authorized-repos',
    attributes: { name: identifier.split('/').at(-1) ?? identifier, 'default-branch': defaultBranch },
  }));
  return json(200, { data, meta: { 'next-page': next } });
};

/** A token of this organization that the caller may use. @throws {ApiError} */
const named = async (context: Context<InOrganization>): Promise<{ tokenId: string; identifier: string }> => {
  const { request, subject } = context;
  const tokenId = request.query.get('oauth_token_id') ?? '';
  const identifier = request.query.get('identifier') ?? '';
  if (!isIdentifier(identifier)) throw badRequest('identifier must be like owner/name.', 'identifier');
  const found = await (isInstallation(tokenId) ? getInstallation : getToken)(tokenId.slice(0, 100));
  const client = found && 'clientId' in found ? await getClient(found.clientId) : undefined;
  const isHere = found?.organization === subject.organization && (client || isInstallation(tokenId));
  await checkConnects(context, isHere ? client : undefined);
  if (!isHere) throw notFound('OAuth token not found.');
  return { tokenId, identifier };
};

const repository = async (context: Context<InOrganization>): Promise<Answer> => {
  const { tokenId, identifier } = await named(context);
  const found = await whileAsking(tokenId, ({ forge, call }) => forge.repository(call, identifier), identifier);
  const attributes = {
    exists: found !== undefined,
    identifier,
    'default-branch': found?.defaultBranch ?? null,
    'can-administer': found?.mayAdminister ?? false,
  };
  return json(200, { data: { id: identifier, type: 'vcs-repo-check', attributes } });
};

const branches = async (context: Context<InOrganization>): Promise<Answer> => {
  const { tokenId, identifier } = await named(context);
  const names = await whileAsking(tokenId, ({ forge, call }) => forge.branches(call, identifier), identifier);
  return json(200, { data: names.map((name) => ({ id: name, type: 'vcs-branches', attributes: { name } })) });
};

/** Only folders, from which users choose a working directory. */
const tree = async (context: Context<InOrganization>): Promise<Answer> => {
  const { tokenId, identifier } = await named(context);
  const branch = context.request.query.get('branch') ?? '';
  if (branch && !isBranch(branch)) throw badRequest('branch is not the name of a branch.', 'branch');
  const paths = await whileAsking(
    tokenId,
    async ({ forge, call }) => {
      const found = await forge.repository(call, identifier);
      const sha = found && (await forge.branch(call, identifier, branch || found.defaultBranch));
      return sha && (await forge.folders(call, identifier, sha));
    },
    identifier,
  );
  if (!paths) throw notFound(`Repository ${identifier} or its branch not found.`);
  return json(200, { data: paths.sort().map((path) => ({ id: path, type: 'vcs-tree', attributes: { path } })) });
};

const query = { oauth_token_id: 'text', identifier: 'text' } as const;
const treeQuery = { ...query, branch: 'text' } as const;

export const repositoryRoutes: Route[] = [
  route('GET', '/oauth-tokens/{oauthToken}/authorized-repos', 'connection:read', oauthToken, authorized),
  route('GET', '/organizations/{organization}/vcs/repo', 'connection:read', organization, repository, query),
  route('GET', '/organizations/{organization}/vcs/branches', 'connection:read', organization, branches, query),
  route('GET', '/organizations/{organization}/vcs/tree', 'connection:read', organization, tree, treeQuery),
];
