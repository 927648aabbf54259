import * as v from 'valibot';
import type { Call, Forge, StatusState } from '../forge.ts';
import { allPages, firstOf, found, maxTags, missing } from '../github/forge.ts';
import { id, sha, webUrl } from '../github/schemas.ts';

/** GitLab.com, Community and Enterprise Edition (GitLab REST API v4). */

export const project = (identifier: string): string => `/projects/${encodeURIComponent(identifier)}`;
export const pageSize = 100;
/** Maximum number of files in a comparison (GitLab: diff limits). */
const maxDiffs = 1000;
/** Maximum entries of a folder that are searched for a submodule. */
const maxEntries = 5000;
/** Access level of a Maintainer (GitLab: roles). */
const maintainer = 40;

const access = v.nullish(v.object({ access_level: v.nullish(v.number(), 0) }));
const projectSchema = v.object({
  id,
  path_with_namespace: v.string(),
  default_branch: v.nullish(v.string(), null),
  web_url: webUrl,
  http_url_to_repo: webUrl,
  permissions: v.nullish(v.object({ project_access: access, group_access: access })),
});

export const diffs = v.array(v.object({ old_path: v.string(), new_path: v.string() }));
export const pathsOf = (list: v.InferOutput<typeof diffs>): string[] => [
  ...new Set(list.flatMap(({ old_path, new_path }) => [old_path, new_path])),
];

const stateNames: Record<StatusState, string> = {
  pending: 'running',
  success: 'success',
  failure: 'failed',
  error: 'canceled',
};

const hook = v.object({ id, url: v.nullish(v.string()) });

const ensureHook = async (call: Call, identifier: string, { url, secret }: { url: string; secret: string }) => {
  const path = `${project(identifier)}/hooks`;
  const body = {
    url,
    token: secret,
    push_events: true,
    tag_push_events: true,
    merge_requests_events: true,
    note_events: true,
    enable_ssl_verification: true,
  };
  const { body: existing } = await call({ method: 'GET', path, query: { per_page: pageSize } });
  const ours = v.parse(v.array(hook), existing).find((one) => one.url === url);
  if (!ours) return v.parse(hook, (await call({ method: 'POST', path, body })).body).id;
  await call({ method: 'PUT', path: `${path}/${ours.id}`, body });
  return ours.id;
};

export const gitlab: Forge = {
  oauth: { authorize: '/oauth/authorize', token: '/oauth/token', scope: 'api' },
  whoAmI: async (call) => {
    const { body } = await call({ method: 'GET', path: '/user' });
    const one = v.parse(v.object({ id, username: v.string() }), body);
    return { id: one.id, name: one.username };
  },
  repositories: async (call, page) => {
    const query = { membership: 'true', min_access_level: maintainer, simple: 'true', per_page: pageSize, page };
    const { body } = await call({ method: 'GET', path: '/projects', query });
    const items = v.parse(v.array(projectSchema), body);
    return {
      items: items.map((one) => ({ identifier: one.path_with_namespace, defaultBranch: one.default_branch })),
      next: items.length === pageSize ? page + 1 : null,
    };
  },
  repository: async (call, identifier) => {
    const one = found(projectSchema, await call({ method: 'GET', path: project(identifier), accept: missing }));
    if (!one) return undefined;
    const { project_access: own, group_access: group } = one.permissions ?? {};
    return {
      id: one.id,
      identifier: one.path_with_namespace,
      defaultBranch: one.default_branch ?? '',
      mayAdminister: Math.max(own?.access_level ?? 0, group?.access_level ?? 0) >= maintainer,
      httpUrl: one.web_url ?? '',
      cloneUrl: one.http_url_to_repo ?? '',
    };
  },
  branches: async (call, identifier) => {
    const path = `${project(identifier)}/repository/branches`;
    const { body } = await call({ method: 'GET', path, query: { per_page: pageSize } });
    return v.parse(v.array(v.object({ name: v.string() })), body).map(({ name }) => name);
  },
  tags: async (call, identifier) => {
    const path = `${project(identifier)}/repository/tags`;
    const schema = v.array(v.object({ name: v.string(), commit: v.object({ id: sha }) }));
    const tags = await firstOf(maxTags, pageSize, async (page) =>
      v.parse(schema, (await call({ method: 'GET', path, query: { per_page: pageSize, page } })).body),
    );
    return tags.map(({ name, commit }) => ({ name, sha: commit.id }));
  },
  branch: async (call, identifier, branch) => {
    const path = `${project(identifier)}/repository/branches/${encodeURIComponent(branch)}`;
    const schema = v.object({ commit: v.object({ id: sha }) });
    return found(schema, await call({ method: 'GET', path, accept: missing }))?.commit.id;
  },
  commit: async (call, identifier, commit) => {
    const path = `${project(identifier)}/repository/commits/${encodeURIComponent(commit)}`;
    const schema = v.object({
      id: sha,
      message: v.nullish(v.string(), ''),
      web_url: webUrl,
      author_name: v.nullish(v.string(), null),
    });
    const one = found(schema, await call({ method: 'GET', path, accept: missing }));
    return (
      one && {
        sha: one.id,
        message: (one.message ?? '').slice(0, 2000),
        url: one.web_url ?? '',
        author: one.author_name,
      }
    );
  },
  folders: async (call, identifier, commit) => {
    const path = `${project(identifier)}/repository/tree`;
    const schema = v.array(v.object({ path: v.string(), type: v.string() }));
    const folders: string[] = [];
    await allPages(async (page) => {
      const query = { ref: commit, recursive: 'true', per_page: pageSize, page };
      const entries = v.parse(schema, (await call({ method: 'GET', path, query })).body);
      folders.push(...entries.flatMap((entry) => (entry.type === 'tree' ? [entry.path] : [])));
      return entries;
    }, pageSize);
    return folders;
  },
  submodule: async (call, identifier, commit, at) => {
    const path = `${project(identifier)}/repository/tree`;
    const schema = v.array(v.object({ id: v.string(), path: v.string(), type: v.string() }));
    const folder = at.split('/').slice(0, -1).join('/');
    const entries = await firstOf(maxEntries, pageSize, async (page) => {
      const query = { ref: commit, per_page: pageSize, page, ...(folder ? { path: folder } : {}) };
      return v.parse(schema, (await call({ method: 'GET', path, query })).body);
    });
    return entries.find((entry) => entry.path === at && entry.type === 'commit')?.id;
  },
  changedFiles: async (call, identifier, from, to) => {
    const path = `${project(identifier)}/repository/compare`;
    const schema = v.object({ diffs, compare_timeout: v.optional(v.boolean(), false) });
    const answer = await call({ method: 'GET', path, query: { from, to, straight: 'true' }, accept: missing });
    const one = found(schema, answer);
    return one && !one.compare_timeout && one.diffs.length < maxDiffs ? pathsOf(one.diffs) : undefined;
  },
  archiveUrl: ({ apiUrl }, identifier, commit) =>
    `${apiUrl}${project(identifier)}/repository/archive.tar.gz?sha=${commit}`,
  createHook: ensureHook,
  deleteHook: async (call, identifier, hookId) => {
    await call({ method: 'DELETE', path: `${project(identifier)}/hooks/${hookId}`, accept: [404] });
  },
  postStatus: async (call, identifier, commit, { state, context, description, targetUrl }) => {
    const body = { state: stateNames[state], name: context, description, target_url: targetUrl };
    // "Cannot transition status via …": the commit has that status already.
    await call({ method: 'POST', path: `${project(identifier)}/statuses/${commit}`, body, accept: [400] });
  },
};
