import * as v from 'valibot';
import { ForgeError } from '#version-control/forge-error.ts';
import type { Call, Forge, ForgeAnswer } from '../forge.ts';
import { id, repository, sha, webUrl } from './schemas.ts';

/**
 * GitHub and GitHub Enterprise Server (GitHub REST API, 2022-11-28). Gitea's API has the same form, see gitea/forge.ts.
 */

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');
export const repo = (identifier: string): string => `/repos/${encoded(identifier)}`;

/** The response's body; undefined for "not found". */
export const found = <S extends v.GenericSchema>(schema: S, answer: ForgeAnswer): v.InferOutput<S> | undefined =>
  answer.status < 300 ? v.parse(schema, answer.body) : undefined;

export const missing = [404, 409, 422] as const;

const maxCompared = 300;
export const pageSize = 100;
const maxPages = 10;
export const maxTags = 1000;

/** Names in a list of changed files, with the former names of renamed ones. */
export const changed = v.array(v.object({ filename: v.string(), previous_filename: v.nullish(v.string()) }));
export const pathsOf = (files: v.InferOutput<typeof changed>): string[] =>
  files.flatMap(({ filename, previous_filename }) => (previous_filename ? [filename, previous_filename] : [filename]));

/** Reads several pages, up to a limit; undefined when there are more. */
export const allPages = async <T>(read: (page: number) => Promise<T[]>, size: number, most = maxPages) => {
  const all: T[] = [];
  for (let page = 1; page <= most; page++) {
    const items = await read(page);
    all.push(...items);
    if (items.length < size) return all;
  }
  return undefined;
};

export const hook = v.object({ id, config: v.nullish(v.object({ url: v.nullish(v.string()) })) });

const hookEvents = ['push', 'pull_request', 'issue_comment', 'merge_group'];
/** For GitHub Enterprise Server before 3.12, which has no merge queues. */
const olderHookEvents = hookEvents.filter((name) => name !== 'merge_group');

const ensureHook = async (
  call: Call,
  identifier: string,
  { url, secret }: { url: string; secret: string },
  extra: object,
): Promise<string> => {
  const path = `${repo(identifier)}/hooks`;
  const body = { ...extra, active: true, config: { url, content_type: 'json', secret, insecure_ssl: '0' } };
  const { body: existing } = await call({ method: 'GET', path, query: { per_page: pageSize, limit: 50 } });
  const ours = v.parse(v.array(hook), existing).find(({ config }) => config?.url === url);
  if (ours) {
    await call({ method: 'PATCH', path: `${path}/${ours.id}`, body });
    return ours.id;
  }
  const made = await call({ method: 'POST', path, body });
  return v.parse(hook, made.body).id;
};

/** The first items, from as many pages as necessary. */
export const firstOf = async <T>(most: number, size: number, read: (page: number) => Promise<T[]>): Promise<T[]> => {
  const all: T[] = [];
  for (let page = 1; all.length < most; page++) {
    const items = await read(page);
    all.push(...items);
    if (items.length < size) break;
  }
  return all;
};

export const tagsOf = async (
  call: Call,
  identifier: string,
  size: number,
): Promise<{ name: string; sha: string }[]> => {
  const schema = v.array(v.object({ name: v.string(), commit: v.object({ sha }) }));
  const tags = await firstOf(maxTags, size, async (page) => {
    const query = { per_page: size, limit: size, page };
    return v.parse(schema, (await call({ method: 'GET', path: `${repo(identifier)}/tags`, query })).body);
  });
  return tags.map(({ name, commit }) => ({ name, sha: commit.sha }));
};

export const github: Forge & Required<Pick<Forge, 'oauth'>> = {
  oauth: { authorize: '/login/oauth/authorize', token: '/login/oauth/access_token', scope: 'repo' },
  whoAmI: async (call) => {
    const { body } = await call({ method: 'GET', path: '/user' });
    const { id: accountId, login } = v.parse(v.object({ id, login: v.string() }), body);
    return { id: accountId, name: login };
  },
  repositories: async (call, page) => {
    const query = { sort: 'pushed', per_page: pageSize, page };
    const { body } = await call({ method: 'GET', path: '/user/repos', query });
    const items = v.parse(v.array(repository), body);
    return {
      items: items.map((one) => ({ identifier: one.full_name, defaultBranch: one.default_branch })),
      next: items.length === pageSize ? page + 1 : null,
    };
  },
  repository: async (call, identifier) => {
    const one = found(repository, await call({ method: 'GET', path: repo(identifier), accept: missing }));
    return (
      one && {
        id: one.id,
        identifier: one.full_name,
        defaultBranch: one.default_branch ?? '',
        mayAdminister: one.permissions?.admin ?? false,
        httpUrl: one.html_url ?? '',
        cloneUrl: one.clone_url ?? '',
      }
    );
  },
  branches: async (call, identifier) => {
    const path = `${repo(identifier)}/branches`;
    const { body } = await call({ method: 'GET', path, query: { per_page: pageSize, limit: 50 } });
    return v.parse(v.array(v.object({ name: v.string() })), body).map(({ name }) => name);
  },
  tags: (call, identifier) => tagsOf(call, identifier, pageSize),
  branch: async (call, identifier, branch) => {
    const path = `${repo(identifier)}/branches/${encoded(branch)}`;
    const schema = v.object({ commit: v.object({ sha: v.optional(sha), id: v.optional(sha) }) });
    const one = found(schema, await call({ method: 'GET', path, accept: missing }));
    return one?.commit.sha ?? one?.commit.id;
  },
  commit: async (call, identifier, commit) => {
    const path = `${repo(identifier)}/commits/${encodeURIComponent(commit)}`;
    const schema = v.object({
      sha: sha,
      html_url: webUrl,
      commit: v.object({ message: v.string(), author: v.nullish(v.object({ name: v.nullish(v.string()) })) }),
      author: v.nullish(v.object({ login: v.nullish(v.string()) })),
    });
    const one = found(schema, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        sha: one.sha,
        message: one.commit.message.slice(0, 2000),
        url: one.html_url ?? '',
        author: one.author?.login ?? one.commit.author?.name ?? null,
      }
    );
  },
  folders: async (call, identifier, commit) => {
    const path = `${repo(identifier)}/git/trees/${commit}`;
    const schema = v.object({ tree: v.array(v.object({ path: v.string(), type: v.string() })) });
    const { body } = await call({ method: 'GET', path, query: { recursive: 1, per_page: 1000 } });
    return v.parse(schema, body).tree.flatMap((entry) => (entry.type === 'tree' ? [entry.path] : []));
  },
  submodule: async (call, identifier, commit, at) => {
    const path = `${repo(identifier)}/contents/${encoded(at)}`;
    const { status, body } = await call({ method: 'GET', path, query: { ref: commit }, accept: missing });
    const one = v.safeParse(v.object({ type: v.literal('submodule'), sha }), status < 300 ? body : undefined);
    return one.success ? one.output.sha : undefined;
  },
  changedFiles: async (call, identifier, from, to) => {
    const path = `${repo(identifier)}/compare/${from}...${to}`;
    const schema = v.object({ files: v.nullish(changed), behind_by: v.nullish(v.number(), 0) });
    const one = found(schema, await call({ method: 'GET', path, query: { per_page: 1 }, accept: missing }));
    // GitHub compares with the common ancestor: files that a forced push dropped are not in the list.
    if (!one?.files || one.behind_by || one.files.length >= maxCompared) return undefined;
    return pathsOf(one.files);
  },
  archiveUrl: ({ apiUrl }, identifier, commit) => `${apiUrl}${repo(identifier)}/tarball/${commit}`,
  createHook: async (call, identifier, wanted) => {
    try {
      return await ensureHook(call, identifier, wanted, { name: 'web', events: hookEvents });
    } catch (error) {
      if (!(error instanceof ForgeError) || error.status !== 422) throw error;
      return ensureHook(call, identifier, wanted, { name: 'web', events: olderHookEvents });
    }
  },
  deleteHook: async (call, identifier, hookId) => {
    await call({ method: 'DELETE', path: `${repo(identifier)}/hooks/${hookId}`, accept: [404] });
  },
  postStatus: async (call, identifier, commit, { state, context, description, targetUrl }) => {
    const body = { state, context, description, target_url: targetUrl };
    await call({ method: 'POST', path: `${repo(identifier)}/statuses/${commit}`, body });
  },
};
