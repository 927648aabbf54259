import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { related } from '#clients/client/client.ts';
import { client, newName, organization, type Resource } from '#test/e2e/support/world.ts';
import { Gitea, type GiteaUser } from './gitea.ts';

/** A Gitea that is connected to the platform, and workspaces that follow its repositories. */

const run = promisify(execFile);

const connectTo = (url: string, token: string, home = organization): Promise<Resource> =>
  client.create(`/organizations/${home}/oauth-clients`, 'oauth-clients', {
    name: newName('tea'),
    'service-provider': 'gitea',
    'http-url': url,
    'api-url': `${url}/api/v1`,
    'oauth-token-string': token,
  });

/** Messages of all events of version control, newest first. */
export const vcsMessages = async (): Promise<string> =>
  (await client.list(`/organizations/${organization}/vcs-events`))
    .map(({ attributes }: Resource) => attributes.message)
    .join('\n');

export class FollowingGitea {
  readonly gitea: Gitea;
  /** Its URL for the platform. */
  readonly url: string;
  readonly oauthClient: Resource;

  private constructor(gitea: Gitea, url: string, oauthClient: Resource) {
    this.gitea = gitea;
    this.url = url;
    this.oauthClient = oauthClient;
  }

  /** @param through returns its URL for the platform, given its own */
  static async start(through = async (url: string): Promise<string> => url): Promise<FollowingGitea> {
    const gitea = await Gitea.start();
    const url = await through(gitea.url);
    return new FollowingGitea(gitea, url, await connectTo(url, gitea.owner.token));
  }

  /** Creates another connection, in any organization. */
  connect(home = organization): Promise<Resource> {
    return connectTo(this.url, this.gitea.owner.token, home);
  }

  follow(
    identifier: string,
    attributes: object = {},
    vcs: object = {},
    { by = this.oauthClient, home = organization } = {},
  ): Promise<Resource> {
    return client.createWorkspace(home, newName(), {
      'queue-all-runs': true,
      ...attributes,
      'vcs-repo': { identifier, 'oauth-token-id': related(by, 'oauth-tokens') ?? '', ...vcs },
    });
  }

  runsOf({ id }: Resource): Promise<Resource[]> {
    return client.list(`/workspaces/${id}/runs?page[size]=50&filter[operation]=plan_and_apply,plan_only,save_plan`);
  }

  async ingressOf(one: Resource): Promise<Resource['attributes']> {
    const version = await client.get(`/runs/${one.id}/configuration-version`);
    return (await client.get(`/configuration-versions/${version.id}/ingress-attributes`)).attributes;
  }

  /** Runs and their commits, newest first. */
  async commitRunsOf({ id }: Resource): Promise<{ run: Resource; sha: string }[]> {
    const { data, included = [] } = await client.call<Resource[]>(
      'GET',
      `/workspaces/${id}/runs?page[size]=50&filter[operation]=plan_and_apply,plan_only,save_plan&include=configuration_version.ingress_attributes`,
    );
    return data.map((run) => {
      const of = related(run, 'configuration-version')?.replace('cv-', 'ia-');
      return { run, sha: included.find((one) => one.id === of)?.attributes['commit-sha'] };
    });
  }

  /** Newest first. */
  async commitsOf(workspace: Resource): Promise<string[]> {
    return (await this.commitRunsOf(workspace)).map(({ sha }) => sha);
  }

  /** Waits for the run of the commit. */
  async runOf(workspace: Resource, sha: string): Promise<Resource> {
    let found: Resource | undefined;
    await expect
      .poll(
        async () => {
          found = (await this.commitRunsOf(workspace)).findLast((one) => one.sha === sha)?.run;
          return found?.id;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBeDefined();
    return found as Resource;
  }

  /** Works in a clone: `work` gets a function that runs git. */
  async inClone<T>(
    identifier: string,
    work: (git: (...words: string[]) => Promise<string>, folder: string) => Promise<T>,
    { name, token }: GiteaUser = this.gitea.owner,
  ) {
    const folder = await mkdtemp(join(tmpdir(), 'clone-'));
    const url = `${this.gitea.url.replace('http://', `http://${name}:${token}@`)}/${identifier}.git`;
    const author = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
    const git = async (...words: string[]) => (await run('git', [...author, ...words], { cwd: folder })).stdout.trim();
    try {
      await git('clone', '--quiet', url, '.');
      return await work(git, folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
