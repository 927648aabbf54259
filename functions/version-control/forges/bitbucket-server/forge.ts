import * as v from 'valibot';
import { ForgeError } from '#version-control/forge-error.ts';
import type { Call, Forge, StatusState } from '../forge.ts';
import { found, maxTags, missing } from '../github/forge.ts';
import { id, sha, webUrl } from '../github/schemas.ts';
import { followPages } from '../pages.ts';
import { addressIn, self } from './schemas.ts';

/** Bitbucket Data Center and Server 7.5 or newer (REST API 1.0; `api-url` is the server's base URL). */

const api = '/rest/api/1.0';

/** @param identifier `PROJECT/repository`, or `~user/repository`; URLs for git have `scm/` before it */
export const repo = (identifier: string): string => {
  const [project = '', name = ''] = identifier.replace(/^scm\//, '').split('/');
  return `${api}/projects/${encodeURIComponent(project)}/repos/${encodeURIComponent(name)}`;
};

const pageSize = 1000;
/** Maximum number of pages of changed files and of folders. */
const maxPages = 10;

const pageOf = <S extends v.GenericSchema>(item: S) =>
  v.object({ values: v.array(item), nextPageStart: v.nullish(v.number()) });

/** Items of a list up to a number of pages; undefined if there are more, or the list was not found. */
export const listed = <S extends v.GenericSchema>(
  call: Call,
  path: string,
  item: S,
  { query = {}, pages = maxPages }: { query?: Record<string, string | number>; pages?: number } = {},
): Promise<v.InferOutput<S>[] | undefined> =>
  followPages(pages, async (start: number | undefined) => {
    const sent = { limit: pageSize, start: start ?? 0, ...query };
    const one = found(pageOf(item), await call({ method: 'GET', path, query: sent, accept: missing }));
    return one && { items: one.values, next: one.nextPageStart };
  });

/** `components`: the parts of a path between its slashes. */
const file = v.object({ components: v.array(v.string()) });
export const changed = v.object({ path: file, srcPath: v.nullish(file) });
export const pathsOf = (files: v.InferOutput<typeof changed>[]): string[] => [
  ...new Set(
    files.flatMap(({ path, srcPath }) => [path, ...(srcPath ? [srcPath] : [])].map((one) => one.components.join('/'))),
  ),
];

const repository = v.object({
  id,
  slug: v.string(),
  project: v.object({ key: v.string() }),
  links: v.intersect([
    self,
    v.fallback(v.object({ clone: v.array(v.object({ href: webUrl, name: v.string() })) }), { clone: [] }),
  ]),
});
const identifierOf = ({ project, slug }: v.InferOutput<typeof repository>): string => `${project.key}/${slug}`;

const ref = v.object({ displayId: v.string(), latestCommit: sha });

const stateNames: Record<StatusState, string> = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'CANCELLED',
};

const hook = v.object({ id, url: v.nullish(v.string()) });
const hookEvents = [
  'repo:refs_changed',
  'pr:opened',
  'pr:from_ref_updated',
  'pr:to_ref_updated',
  'pr:modified',
  'pr:merged',
  'pr:declined',
  'pr:deleted',
  'pr:comment:added',
];

const perPage = 100;

export const bitbucketServer: Forge = {
  oauth: {
    authorize: '/rest/oauth2/latest/authorize',
    token: '/rest/oauth2/latest/token',
    scope: 'REPO_ADMIN',
  },
  /** The account is in the headers of each response to a request with a token. */
  whoAmI: async (call) => {
    const { headers } = await call({ method: 'GET', path: `${api}/repos`, query: { limit: 1 } });
    const [accountId, name] = [headers['x-auserid'], headers['x-ausername']].map((value) => value?.toString());
    if (!accountId || !name)
      throw new ForgeError('refused', 'Bitbucket Data Center does not name the account of the token');
    return { id: accountId, name: decodeURIComponent(name) };
  },
  /** A page's number is the index of its first repository, plus one. */
  repositories: async (call, page) => {
    const query = { permission: 'REPO_ADMIN', limit: perPage, start: page - 1 };
    const { body } = await call({ method: 'GET', path: `${api}/repos`, query });
    const { values, nextPageStart: next } = v.parse(pageOf(repository), body);
    return {
      items: values.map((one) => ({ identifier: identifierOf(one), defaultBranch: null })),
      next: next == null ? null : next + 1,
    };
  },
  repository: async (call, identifier) => {
    const path = repo(identifier);
    const one = found(repository, await call({ method: 'GET', path, accept: missing }));
    if (!one) return undefined;
    const [head, hooks] = await Promise.all([
      call({ method: 'GET', path: `${path}/default-branch`, accept: missing }),
      call({ method: 'GET', path: `${path}/webhooks`, query: { limit: 1 }, accept: [401, 403, 404] }),
    ]);
    return {
      id: one.id,
      identifier: identifierOf(one),
      defaultBranch: found(v.object({ displayId: v.string() }), head)?.displayId ?? '',
      mayAdminister: hooks.status === 200,
      httpUrl: addressIn(one.links),
      cloneUrl: one.links.clone.find(({ name }) => name.startsWith('http'))?.href ?? '',
    };
  },
  branches: async (call, identifier) => {
    const path = `${repo(identifier)}/branches`;
    const { body } = await call({ method: 'GET', path, query: { limit: perPage, orderBy: 'MODIFICATION' } });
    return v.parse(pageOf(ref), body).values.map(({ displayId }) => displayId);
  },
  branch: async (call, identifier, branch) => {
    const query = { filterText: branch, boostMatches: 'true' };
    const found = await listed(call, `${repo(identifier)}/branches`, ref, { query });
    return found?.find(({ displayId }) => displayId === branch)?.latestCommit;
  },
  tags: async (call, identifier) => {
    const query = { orderBy: 'MODIFICATION' };
    const tags = await listed(call, `${repo(identifier)}/tags`, ref, { query, pages: maxTags / pageSize });
    return (tags ?? []).map(({ displayId, latestCommit }) => ({ name: displayId, sha: latestCommit }));
  },
  commit: async (call, identifier, commit) => {
    const path = `${repo(identifier)}/commits/${encodeURIComponent(commit)}`;
    const schema = v.object({
      id: sha,
      message: v.nullish(v.string(), ''),
      author: v.nullish(v.object({ name: v.nullish(v.string()), displayName: v.nullish(v.string()) })),
    });
    const one = found(schema, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        sha: one.id,
        message: (one.message ?? '').slice(0, 2000),
        url: '',
        author: one.author?.displayName ?? one.author?.name ?? null,
      }
    );
  },
  folders: async (call, identifier, commit) => {
    const files = await listed(call, `${repo(identifier)}/files`, v.string(), { query: { at: commit } });
    const folders = new Set<string>();
    for (const path of files ?? []) {
      const parts = path.split('/').slice(0, -1);
      for (let depth = 1; depth <= parts.length; depth++) folders.add(parts.slice(0, depth).join('/'));
    }
    return [...folders];
  },
  submodule: async (call, identifier, commit, at) => {
    const parts = at.split('/');
    const path = `${repo(identifier)}/browse/${parts.slice(0, -1).map(encodeURIComponent).join('/')}`;
    const entry = v.object({ path: file, type: v.string(), contentId: v.nullish(v.string()) });
    const schema = v.object({ children: pageOf(entry) });
    const answer = await call({
      method: 'GET',
      path: path.replace(/\/$/, ''),
      query: { at: commit, limit: pageSize },
      accept: missing,
    });
    const one = found(schema, answer)?.children.values.find(
      ({ path, type }) => type === 'SUBMODULE' && path.components.at(-1) === parts.at(-1),
    );
    return one?.contentId ?? undefined;
  },
  changedFiles: async (call, identifier, from, to) => {
    const query = { since: from, until: to };
    const files = await listed(call, `${repo(identifier)}/changes`, changed, { query });
    return files && pathsOf(files);
  },
  archiveUrl: ({ apiUrl }, identifier, commit) =>
    `${apiUrl}${repo(identifier)}/archive?at=${commit}&format=tar.gz&prefix=commit/`,
  createHook: async (call, identifier, { url, secret }) => {
    const path = `${repo(identifier)}/webhooks`;
    const body = { name: 'stepform', url, configuration: { secret }, active: true, events: hookEvents };
    const ours = (await listed(call, path, hook))?.find((one) => one.url === url);
    if (!ours) return v.parse(hook, (await call({ method: 'POST', path, body })).body).id;
    await call({ method: 'PUT', path: `${path}/${ours.id}`, body });
    return ours.id;
  },
  deleteHook: async (call, identifier, hookId) => {
    await call({ method: 'DELETE', path: `${repo(identifier)}/webhooks/${hookId}`, accept: [404] });
  },
  postStatus: async (call, identifier, commit, { state, context, description, targetUrl }) => {
    const body = {
      key: context.slice(0, 255),
      name: context.slice(0, 255),
      state: stateNames[state],
      description,
      url: targetUrl,
    };
    await call({ method: 'POST', path: `${repo(identifier)}/commits/${commit}/builds`, body });
  },
};
