import { vi } from 'vitest';
import { type Api, startApi, uniqueName } from '#test/support/api.ts';
import { archive } from '#test/support/policies.ts';
import { type ForgeServer, startForge } from './forge-server.ts';
import { signature } from './signature.ts';

/** A repository at a server that answers like GitHub, its followers, and deliveries of its webhook. */

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
export type Json = any;

export const sha = (n: number): string => n.toString(16).padStart(40, 'a');
export const push = (from: number, to: number) => ({ ref: 'refs/heads/main', before: sha(from), after: sha(to) });

type Called = Api['aws']['invoked'][number];

export class Followed {
  /** Head of the branch main. */
  head = sha(0);
  identifier = '';
  repositoryId = 100;
  /** The response for every pull request. */
  pull: Json;
  /** Secret of the webhook at the forge. */
  secret = '';
  /** Comments of pull requests at the forge. */
  comments: Json[] = [];
  readonly api: Api;
  readonly forge: ForgeServer;
  #ids = 0;

  private constructor(api: Api, forge: ForgeServer) {
    this.api = api;
    this.forge = forge;
  }

  static async start(): Promise<Followed> {
    return new Followed(await startApi(), await startForge());
  }

  async close(): Promise<void> {
    delete process.env.OUTBOUND_ALLOWED_CIDRS;
    await this.forge.close();
    await this.api.close();
  }

  /** Switches to a new repository with one commit, and to the real clock. */
  reset(identifier = `acme/${uniqueName('infra')}`): void {
    vi.useRealTimers();
    process.env.OUTBOUND_ALLOWED_CIDRS = '127.0.0.0/8';
    process.env.PUBLIC_URL = 'https://stepform.example';
    const { forge } = this;
    forge.reset();
    this.identifier = identifier;
    this.repositoryId++;
    this.head = sha(0);
    this.comments = [];
    const base = `/repos/${this.identifier}`;
    const facts = { full_name: this.identifier, default_branch: 'main', permissions: { admin: true } };
    forge.on('GET', base, { body: { ...facts, id: this.repositoryId } });
    forge.on('GET', `${base}/branches/main`, () => ({ body: { commit: { sha: this.head } } }));
    forge.on('GET', /\/branches\/none$/, { status: 404, body: {} });
    forge.on('GET', /\/commits\//, ({ path }) => ({
      body: { sha: path.split('/').at(-1), html_url: 'https://github.example/c', commit: { message: 'A commit' } },
    }));
    forge.on('GET', `${base}/hooks`, { body: [] });
    forge.on('POST', `${base}/hooks`, ({ body }) => {
      this.secret = body.config.secret;
      return { status: 201, body: { id: 5, config: { url: body.config.url } } };
    });
    forge.on('DELETE', `${base}/hooks/5`, { status: 204 });
    forge.on('GET', /\/compare\//, { body: { files: [{ filename: 'a/main.tf' }], behind_by: 0 } });
    forge.on('GET', /\/pulls\/\d+$/, () => ({ body: this.pull }));
    forge.on('POST', /\/statuses\//, { status: 201, body: {} });
    this.#answerComments(base);
  }

  #answerComments(base: string): void {
    const { forge } = this;
    forge.on('GET', new RegExp(`^${base}/issues/\\d+/comments$`), () => ({ body: this.comments }));
    forge.on('POST', new RegExp(`^${base}/issues/\\d+/comments$`), ({ body }) => {
      const comment = { id: 900 + this.comments.length, body: body.body, user: { id: 7, login: 'octocat' } };
      this.comments.push(comment);
      return { status: 201, body: comment };
    });
    forge.on('GET', new RegExp(`^${base}/issues/comments/\\d+$`), ({ path }) => {
      const comment = this.comments.find(({ id }) => path.endsWith(`/${id}`));
      return comment ? { body: comment } : { status: 404, body: {} };
    });
    forge.on('PATCH', new RegExp(`^${base}/issues/comments/\\d+$`), ({ path, body }) => {
      const comment = this.comments.find(({ id }) => path.endsWith(`/${id}`));
      if (!comment) return { status: 404, body: {} };
      comment.body = body.body;
      return { body: comment };
    });
  }

  /** Posts a comment on the pull request, and delivers it. */
  async say(hook: string, user: { id: number; login: string }, body: string, change: object = {}, number = 7) {
    const at = new Date().toISOString();
    const comment = {
      id: 900 + this.comments.length,
      body,
      user,
      created_at: at,
      updated_at: at,
      issue_url: `${this.forge.url}/repos/${this.identifier}/issues/${number}`,
      ...change,
    };
    this.comments.push(comment);
    await this.deliverComment(hook, comment, number);
  }

  async deliverComment(hook: string, comment: object, number = 7): Promise<void> {
    const issue = { number, pull_request: {} };
    const { status } = await this.deliver(hook, 'issue_comment', { action: 'created', issue, comment });
    if (status >= 300) throw new Error(String(status));
    await this.settle();
  }

  /** Handles invoked functions until none are left. @param others handles calls of functions other than deliveries */
  async settle(others: (called: Called) => Promise<void> = async () => {}): Promise<void> {
    const { handler } = await import('#lifecycle/creation/version-control-event.ts');
    const { invoked } = this.api.aws;
    for (let next = invoked.shift(); next; next = invoked.shift()) {
      if (next.name === 'VersionControlEventFunction') await handler(next.event as never);
      else await others(next);
    }
  }

  /** Also fetches pending commits. */
  async settleAndFetch(): Promise<void> {
    const fetching = await import('#lifecycle/creation/fetch-commit.ts');
    await this.settle(async ({ name, event }) => {
      if (name === 'FetchCommitFunction') await fetching.handler(event as never);
    });
  }

  /** Advances the clock, and handles due items like the sweep. Lasts until the next `reset`. */
  async sweepAfter(seconds: number, others: (called: Called) => Promise<void> = async () => {}): Promise<void> {
    vi.setSystemTime(Date.now() + seconds * 1000);
    const { handler } = await import('#lifecycle/repair/sweep.ts');
    await handler();
    await this.settle(others);
  }

  /** Sets the repository's files at every commit, in the forge's format: in one folder. */
  async has(files: Parameters<typeof archive>[0], identifier = this.identifier): Promise<void> {
    const inFolder = Object.entries(files).map(([name, content]) => [
      `${identifier.replace('/', '-')}-1/${name}`,
      content,
    ]);
    const body = await archive(Object.fromEntries(inFolder));
    this.forge.on('GET', new RegExp(`^/repos/${identifier}/tarball/`), { body });
  }

  /** Creates a connection. @returns it and the id of its token */
  async connection(): Promise<{ client: Json; token: string }> {
    const { body } = await this.api.post('organizations/acme/oauth-clients', {
      'service-provider': 'github',
      'http-url': this.forge.url,
      'api-url': this.forge.url,
      'oauth-token-string': 'good',
    });
    return { client: body.data, token: body.data.relationships['oauth-tokens'].data[0].id };
  }

  async connect(attributes: object = {}): Promise<{ workspace: Json; hook: string; client: Json; token: string }> {
    const { client, token } = await this.connection();
    return { client, token, ...(await this.follow(token, attributes)) };
  }

  async follow(token: string, attributes: object = {}, repo: object = {}): Promise<{ workspace: Json; hook: string }> {
    const workspace = await this.workspace(token, attributes, repo);
    await this.settle();
    return { workspace, hook: new URL(workspace.attributes['vcs-repo']['webhook-url']).pathname };
  }

  /** The caller handles the deliveries that it causes. */
  workspace(token: string, attributes: object = {}, repo: object = {}): Promise<Json> {
    return this.api.workspace({
      'queue-all-runs': true,
      ...attributes,
      'vcs-repo': { identifier: this.identifier, 'oauth-token-id': token, ...repo },
    });
  }

  /**
   * The number of deliveries per second and repository is limited, so a test with many advances the clock, until the
   * next `reset`.
   */
  toNextSecond(): void {
    vi.setSystemTime(Date.now() + 1000);
  }

  deliver(hook: string, kind: string, payload: object, headers: Record<string, string> = {}) {
    const repository = { id: this.repositoryId, full_name: this.identifier, default_branch: 'main' };
    const body = JSON.stringify({ repository, sender: { login: 'octocat' }, ...payload });
    return this.api.call('POST', hook, {
      token: null,
      body,
      headers: {
        'content-type': 'application/json',
        'x-github-event': kind,
        'x-github-delivery': `d-${++this.#ids}`,
        'x-hub-signature-256': signature(body, this.secret),
        ...headers,
      },
    });
  }

  /** In the order of their numbers. */
  async runsOf({ id }: { id: string }): Promise<Json[]> {
    const { queryAll } = await import('#platform/store/table.ts');
    const rows = await queryAll<{ runId: string }>({ pk: `WS#${id}`, prefix: 'RUN#' });
    const { getRun } = await import('#resources/runs/records.ts');
    const runs = await Promise.all(rows.map(({ runId }) => getRun(runId)));
    return (runs as Json[]).sort((a, b) => a.number - b.number);
  }

  async commitsOf(workspace: { id: string }): Promise<string[]> {
    return (await this.runsOf(workspace)).map(({ ingress }) => ingress.commitSha);
  }

  /** Open pull request 7 from a branch of the repository. */
  request(n: number, change: object = {}): Json {
    return {
      number: 7,
      state: 'open',
      title: 'Change it',
      html_url: 'https://github.example/pull/7',
      head: { sha: sha(n), ref: 'feature', repo: { id: this.repositoryId } },
      base: { ref: 'main', repo: { id: this.repositoryId } },
      ...change,
    };
  }

  async messages(): Promise<string[]> {
    const { body } = await this.api.get('organizations/acme/vcs-events');
    return body.data.map(({ attributes }: Json) => attributes.message);
  }
}
