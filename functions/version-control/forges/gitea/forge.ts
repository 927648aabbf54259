import * as v from 'valibot';
import type { Forge } from '../forge.ts';
import { found, github, hook, missing, repo, tagsOf } from '../github/forge.ts';
import { webUrl } from '../github/schemas.ts';

/** Gitea and Forgejo: documents like GitHub's, but different paths, limits and events (Gitea API v1). */

const pageSize = 50;
const maxCommits = 250;

const commitFiles = v.object({
  total_commits: v.optional(v.number(), 0),
  commits: v.nullish(v.array(v.object({ files: v.nullish(v.array(v.object({ filename: v.string() })), []) })), []),
});

/** `pull_request` would also subscribe to labels, reviews and comments. */
const hookEvents = ['push', 'pull_request_only', 'pull_request_sync', 'pull_request_comment'];

export const gitea: Forge = {
  ...github,
  oauth: {
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    scope: 'write:repository write:issue read:user',
  },
  repositories: async (call, page) => {
    const { body } = await call({ method: 'GET', path: '/user/repos', query: { limit: pageSize, page } });
    const schema = v.array(v.object({ full_name: v.string(), default_branch: v.nullish(v.string(), null) }));
    const items = v.parse(schema, body);
    return {
      items: items.map((one) => ({ identifier: one.full_name, defaultBranch: one.default_branch })),
      next: items.length === pageSize ? page + 1 : null,
    };
  },
  tags: (call, identifier) => tagsOf(call, identifier, pageSize),
  commit: async (call, identifier, sha) => {
    const path = `${repo(identifier)}/git/commits/${encodeURIComponent(sha)}`;
    const query = { stat: 'false', verification: 'false', files: 'false' };
    const schema = v.object({
      sha: v.string(),
      html_url: webUrl,
      commit: v.object({ message: v.string(), author: v.nullish(v.object({ name: v.nullish(v.string()) })) }),
      author: v.nullish(v.object({ login: v.nullish(v.string()) })),
    });
    const one = found(schema, await call({ method: 'GET', path, query, accept: missing }));
    return (
      one && {
        sha: one.sha,
        message: one.commit.message.trimEnd().slice(0, 2000),
        url: one.html_url ?? '',
        author: one.author?.login ?? one.commit.author?.name ?? null,
      }
    );
  },
  changedFiles: async (call, identifier, from, to) => {
    const compare = async (a: string, b: string) => {
      const path = `${repo(identifier)}/compare/${a}...${b}`;
      return found(commitFiles, await call({ method: 'GET', path, accept: missing }));
    };
    const [forwards, backwards] = await Promise.all([compare(from, to), compare(to, from)]);
    // Commits of the former head that the new one does not contain were dropped.
    if (!forwards || !backwards || backwards.total_commits > 0) return undefined;
    const commits = forwards.commits ?? [];
    if (commits.length > maxCommits || commits.length < forwards.total_commits) return undefined;
    return [...new Set(commits.flatMap(({ files }) => (files ?? []).map(({ filename }) => filename)))];
  },
  archiveUrl: ({ apiUrl }, identifier, sha) => `${apiUrl}${repo(identifier)}/archive/${sha}.tar.gz`,
  createHook: async (call, identifier, { url, secret }) => {
    const path = `${repo(identifier)}/hooks`;
    const { body: existing } = await call({ method: 'GET', path, query: { limit: pageSize } });
    const former = v.parse(v.array(hook), existing).filter(({ config }) => config?.url === url);
    const config = { url, content_type: 'json', secret };
    const body = { type: 'gitea', active: true, events: hookEvents, branch_filter: '*', config };
    const created = v.parse(hook, (await call({ method: 'POST', path, body })).body).id;
    // A changed webhook keeps its secret, so a new one is created. Both deliver for a moment, which is harmless.
    for (const { id } of former) await call({ method: 'DELETE', path: `${path}/${id}`, accept: [404] });
    return created;
  },
};
