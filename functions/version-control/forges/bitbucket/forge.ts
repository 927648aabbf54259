import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ForgeError } from '#version-control/forge-error.ts';
import type { Call, Forge, StatusState } from '../forge.ts';
import { found, maxTags, missing } from '../github/forge.ts';
import { sha } from '../github/schemas.ts';
import { followPages } from '../pages.ts';
import { links } from './schemas.ts';

/** Bitbucket Cloud (REST API 2.0; `api-url` ends in `/2.0`). */

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');
export const repo = (identifier: string): string => `/repositories/${encoded(identifier)}`;

const pageSize = 100;
/** Maximum number of pages of changed files and of folders. */
const maxPages = 10;

/** A page of a list. Of the URL in `next`, only the parameter `page` is used: calls stay at `api-url`. */
const pageOf = <S extends v.GenericSchema>(item: S) => v.object({ values: v.array(item), next: v.nullish(v.string()) });

/** Items of a list up to a number of pages; undefined if there are more, or the list was not found. */
export const listed = <S extends v.GenericSchema>(
  call: Call,
  path: string,
  item: S,
  { query = {}, pages = maxPages }: { query?: Record<string, string | number>; pages?: number } = {},
): Promise<v.InferOutput<S>[] | undefined> =>
  followPages(pages, async (page: string | undefined) => {
    const sent = { pagelen: pageSize, ...query, ...(page ? { page } : {}) };
    const one = found(pageOf(item), await call({ method: 'GET', path, query: sent, accept: missing }));
    if (!one?.next) return one && { items: one.values };
    const next = URL.parse(one.next)?.searchParams.get('page');
    return next ? { items: one.values, next } : undefined;
  });

const repository = v.object({
  uuid: v.string(),
  full_name: v.string(),
  mainbranch: v.nullish(v.object({ name: v.string() })),
  links,
});

const changed = v.object({
  status: v.nullish(v.string(), ''),
  old: v.nullish(v.object({ path: v.string() })),
  new: v.nullish(v.object({ path: v.string() })),
});
type Changed = v.InferOutput<typeof changed>;

export const pathsOf = (files: Changed[]): string[] => [
  ...new Set(files.flatMap(({ old, new: now }) => [old?.path, now?.path].filter((path) => path !== undefined))),
];

export const diffstat = (call: Call, path: string): Promise<Changed[] | undefined> => listed(call, path, changed);

/** The full id: pull requests have the first twelve digits. */
export const fullSha = async (call: Call, identifier: string, commit: string): Promise<string | undefined> => {
  const path = `${repo(identifier)}/commit/${encodeURIComponent(commit)}`;
  return found(v.object({ hash: sha }), await call({ method: 'GET', path, accept: missing }))?.hash;
};

const ref = v.object({ name: v.string(), target: v.object({ hash: sha }) });

const stateNames: Record<StatusState, string> = {
  pending: 'INPROGRESS',
  success: 'SUCCESSFUL',
  failure: 'FAILED',
  error: 'STOPPED',
};

/** Maximum length of a status's key. */
const maxKey = 40;
const keyOf = (context: string): string =>
  context.length <= maxKey ? context : createHash('sha256').update(context).digest('hex').slice(0, maxKey);

const hook = v.object({ uuid: v.string(), url: v.nullish(v.string()) });
const hookEvents = [
  'repo:push',
  'pullrequest:created',
  'pullrequest:updated',
  'pullrequest:fulfilled',
  'pullrequest:rejected',
  'pullrequest:comment_created',
];

/** A list of repositories is one of a workspace; its pages are numbered through all workspaces of the account. */
const perWorkspace = 100;

export const bitbucket: Forge = {
  /** Scopes are those of the OAuth consumer. */
  oauth: { authorize: '/site/oauth2/authorize', token: '/site/oauth2/access_token', scope: '' },
  whoAmI: async (call) => {
    const { body } = await call({ method: 'GET', path: '/user' });
    const schema = v.object({ uuid: v.string(), nickname: v.nullish(v.string()), display_name: v.nullish(v.string()) });
    const one = v.parse(schema, body);
    return { id: one.uuid, name: one.nickname ?? one.display_name ?? one.uuid };
  },
  repositories: async (call, page) => {
    const workspaces = await listed(call, '/user/workspaces', v.object({ workspace: v.object({ slug: v.string() }) }));
    const at = Math.floor((page - 1) / perWorkspace);
    const slug = workspaces?.[at]?.workspace.slug;
    if (slug === undefined) return { items: [], next: null };
    const query = { role: 'admin', sort: '-updated_on', pagelen: pageSize, page: ((page - 1) % perWorkspace) + 1 };
    const { body } = await call({ method: 'GET', path: `/repositories/${encodeURIComponent(slug)}`, query });
    const { values, next } = v.parse(pageOf(repository), body);
    const following = next && page % perWorkspace ? page + 1 : (at + 1) * perWorkspace + 1;
    return {
      items: values.map((one) => ({ identifier: one.full_name, defaultBranch: one.mainbranch?.name ?? null })),
      next: following > (workspaces?.length ?? 0) * perWorkspace ? null : following,
    };
  },
  repository: async (call, identifier) => {
    const one = found(repository, await call({ method: 'GET', path: repo(identifier), accept: missing }));
    if (!one) return undefined;
    const path = `${repo(identifier)}/hooks`;
    const { status } = await call({ method: 'GET', path, query: { pagelen: 1 }, accept: [401, 403, 404] });
    return {
      id: one.uuid,
      identifier: one.full_name,
      defaultBranch: one.mainbranch?.name ?? '',
      mayAdminister: status === 200,
      httpUrl: one.links.html.href,
      cloneUrl: one.links.html.href ? `${one.links.html.href}.git` : '',
    };
  },
  branches: async (call, identifier) => {
    const { body } = await call({
      method: 'GET',
      path: `${repo(identifier)}/refs/branches`,
      query: { pagelen: pageSize },
    });
    return v.parse(pageOf(v.object({ name: v.string() })), body).values.map(({ name }) => name);
  },
  branch: async (call, identifier, branch) => {
    const path = `${repo(identifier)}/refs/branches/${encoded(branch)}`;
    return found(ref, await call({ method: 'GET', path, accept: missing }))?.target.hash;
  },
  tags: async (call, identifier) => {
    const query = { sort: '-target.date' };
    const tags = await listed(call, `${repo(identifier)}/refs/tags`, ref, { query, pages: maxTags / pageSize });
    return (tags ?? []).map(({ name, target }) => ({ name, sha: target.hash }));
  },
  commit: async (call, identifier, commit) => {
    const path = `${repo(identifier)}/commit/${encodeURIComponent(commit)}`;
    const schema = v.object({
      hash: sha,
      message: v.nullish(v.string(), ''),
      links,
      author: v.nullish(
        v.object({
          raw: v.nullish(v.string()),
          user: v.nullish(v.object({ nickname: v.nullish(v.string()), display_name: v.nullish(v.string()) })),
        }),
      ),
    });
    const one = found(schema, await call({ method: 'GET', path, accept: missing }));
    const { user, raw } = one?.author ?? {};
    return (
      one && {
        sha: one.hash,
        message: (one.message ?? '').trimEnd().slice(0, 2000),
        url: one.links.html.href,
        author: user?.nickname ?? user?.display_name ?? raw?.replace(/\s*<.*$/, '') ?? null,
      }
    );
  },
  folders: async (call, identifier, commit) => {
    const query = { max_depth: 10, q: 'type="commit_directory"' };
    const path = `${repo(identifier)}/src/${commit}/`;
    return (await listed(call, path, v.object({ path: v.string() }), { query }))?.map((one) => one.path) ?? [];
  },
  submodule: () => {
    throw new ForgeError('unexpected', 'Bitbucket Cloud does not tell the commits of submodules');
  },
  changedFiles: async (call, identifier, from, to) => {
    const files = await diffstat(call, `${repo(identifier)}/diffstat/${to}..${from}?topic=false`);
    return files && pathsOf(files);
  },
  archiveUrl: ({ httpUrl }, identifier, commit) => `${httpUrl}/${encoded(identifier)}/get/${commit}.tar.gz`,
  createHook: async (call, identifier, { url, secret }) => {
    const path = `${repo(identifier)}/hooks`;
    const body = { description: 'stepform', url, secret, active: true, events: hookEvents };
    const ours = (await listed(call, path, hook))?.find((one) => one.url === url);
    if (!ours) return v.parse(hook, (await call({ method: 'POST', path, body })).body).uuid;
    await call({ method: 'PUT', path: `${path}/${encodeURIComponent(ours.uuid)}`, body });
    return ours.uuid;
  },
  deleteHook: async (call, identifier, hookId) => {
    const path = `${repo(identifier)}/hooks/${encodeURIComponent(hookId)}`;
    await call({ method: 'DELETE', path, accept: [404] });
  },
  postStatus: async (call, identifier, commit, { state, context, description, targetUrl }) => {
    const body = { key: keyOf(context), name: context, state: stateNames[state], description, url: targetUrl };
    await call({ method: 'POST', path: `${repo(identifier)}/commit/${commit}/statuses/build`, body });
  },
};
