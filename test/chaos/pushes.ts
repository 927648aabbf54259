import { type Client, isFinalRun, type Resource, related } from '#clients/client/client.ts';
import { archive } from '#test/support/policies.ts';
import { type ForgeServer, startForge } from '#test/version-control/support/forge-server.ts';
import { signature } from '#test/version-control/support/signature.ts';
import type { Chance } from './seeded-random.ts';
import type { Tally } from './tally.ts';

/** A repository in a campaign: workspaces follow it, and its deliveries arrive once, twice, late or never. */

const identifier = 'acme/chaos';
const followerCount = 2;
/** Each push is a Terraform run in every follower. */
const maxPushes = 12;
/** The number in decimal digits, after a padding of letters. */
const sha = (n: number): string => String(n).padStart(40, 'c');
const numberOf = (commit: string): number => Number(commit.replace(/^c+/, ''));

interface Settings {
  client(): Client;
  /** The platform's current address. */
  local(): { url: string; organization: string };
  /** Id of the connection. */
  token: string;
  tally: Tally;
}

const fates = { arrives: 5, arrivesTwice: 2, isLost: 3, isLate: 3 };

export class Pushes {
  readonly #settings: Settings;
  readonly #forge: ForgeServer;
  #secret = '';
  #head = 0;
  #ids = 0;
  #hook = '';
  #followers: Resource[] = [];
  /** Bodies of deliveries that are sent after later ones. */
  readonly #late: string[] = [];
  /** The newest commit that the platform accepted. */
  #taken = 0;

  private constructor(settings: Settings, forge: ForgeServer) {
    this.#settings = settings;
    this.#forge = forge;
  }

  static async start(settings: Settings): Promise<Pushes> {
    const pushes = new Pushes(settings, await startForge());
    await pushes.#answer();
    await pushes.#follow();
    return pushes;
  }

  async #answer(): Promise<void> {
    const forge = this.#forge;
    forge.tokens = new Set([this.#settings.token]);
    const base = `/repos/${identifier}`;
    const facts = { id: 1, full_name: identifier, default_branch: 'main', permissions: { admin: true } };
    forge.on('GET', base, { body: facts });
    forge.on('GET', `${base}/branches/main`, () => ({ body: { commit: { sha: sha(this.#head) } } }));
    forge.on('GET', /\/commits\//, ({ path }) => ({
      body: { sha: path.split('/').at(-1), html_url: 'https://forge.example/c', commit: { message: 'A commit' } },
    }));
    forge.on('GET', `${base}/hooks`, { body: [] });
    forge.on('POST', `${base}/hooks`, ({ body }) => {
      this.#secret = body.config.secret;
      return { status: 201, body: { id: 5, config: { url: body.config.url } } };
    });
    forge.on('POST', /\/statuses\//, { status: 201, body: {} });
    const tarball = await archive({ 'acme-chaos-1/main.tf': 'locals {}\n' });
    forge.on('GET', /\/tarball\//, { body: tarball });
  }

  async #follow(): Promise<void> {
    const { client, local, token } = this.#settings;
    const { organization } = local();
    const attributes = {
      'service-provider': 'github',
      'http-url': this.#forge.url,
      'api-url': this.#forge.url,
      'oauth-token-string': token,
    };
    const made = await client().create(`/organizations/${organization}/oauth-clients`, 'oauth-clients', attributes);
    for (let n = 0; n < followerCount; n++) {
      const follower = await client().createWorkspace(organization, `follower-${n}`, {
        'queue-all-runs': true,
        'auto-apply': true,
        'vcs-repo': { identifier, 'oauth-token-id': related(made, 'oauth-tokens') ?? '' },
      });
      this.#followers.push(follower);
      const { 'webhook-url': url } = follower.attributes['vcs-repo'] as { 'webhook-url': string };
      this.#hook = new URL(url).pathname;
    }
  }

  #pushed(): string {
    const [before, after] = [sha(this.#head), sha(++this.#head)];
    const repository = { id: 1, full_name: identifier, default_branch: 'main' };
    return JSON.stringify({ repository, sender: { login: 'octocat' }, ref: 'refs/heads/main', before, after });
  }

  /** False if the platform did not accept it: the forge does not resend it. */
  async #deliver(body: string, id: string): Promise<boolean> {
    const { local, tally } = this.#settings;
    const headers = {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': signature(body, this.#secret),
    };
    const answer = await fetch(`${local().url}${this.#hook}`, { method: 'POST', body, headers }).catch(() => undefined);
    const commit = (JSON.parse(body) as { after: string }).after;
    tally.note(`delivery answered ${answer?.status ?? 'never'}`, commit);
    if (answer?.status === 202) this.#taken = Math.max(this.#taken, numberOf(commit));
    return answer?.status === 202;
  }

  async push(chance: Chance): Promise<void> {
    const [fate, choice] = [chance.weighted(fates), chance.fork()];
    if (this.#head >= maxPushes) return;
    const body = this.#pushed();
    const id = `delivery-${++this.#ids}`;
    this.#settings.tally.note(`push ${fate}`, sha(this.#head));
    if (fate === 'isLate') this.#late.push(body);
    if (fate === 'isLate' || fate === 'isLost') return;
    // May send an earlier, late delivery at the same time.
    const late = choice.integer(2) === 0 ? this.#late.shift() : undefined;
    await Promise.all([
      this.#deliver(body, id),
      ...(fate === 'arrivesTwice' ? [this.#deliver(body, id)] : []),
      ...(late ? [this.#deliver(late, `delivery-${++this.#ids}`)] : []),
    ]);
  }

  /** Sends pending deliveries; after a lost delivery, pushes again with a reliable one. May be repeated. */
  async bringOn(): Promise<void> {
    for (let body = this.#late.shift(); body; body = this.#late.shift()) {
      await this.#deliver(body, `delivery-${++this.#ids}`);
    }
    if (this.#taken === this.#head && this.#head > 0) return;
    const body = this.#pushed();
    while (!(await this.#deliver(body, `delivery-${++this.#ids}`)));
  }

  async #runsOf({ id }: Resource): Promise<{ run: Resource; commit: number }[]> {
    const client = this.#settings.client();
    const runs = await client.list(`/workspaces/${id}/runs?page[size]=100`);
    return Promise.all(
      runs.map(async (run) => {
        const version = await client.get(`/runs/${run.id}/configuration-version`);
        const ingress = await client.get(`/configuration-versions/${version.id}/ingress-attributes`);
        return { run, commit: numberOf(String(ingress.attributes['commit-sha'])) };
      }),
    );
  }

  async unsettled(): Promise<string[]> {
    const all = await Promise.all(
      this.#followers.map(async (follower) => {
        const runs = await this.#runsOf(follower);
        const { name } = follower.attributes;
        const open = runs.filter(({ run }) => !isFinalRun(run));
        const has = runs.some(({ commit }) => commit === this.#head);
        return [
          ...open.map(({ run }) => `run ${run.id} of ${name} is ${run.attributes.status}`),
          ...(has ? [] : [`${name} has no run of commit ${this.#head}`]),
        ];
      }),
    );
    return all.flat();
  }

  /** Each commit runs at most once, every follower runs the newest one, and no commit runs after a newer one. */
  async findings(): Promise<string[]> {
    const problems: string[] = [];
    for (const follower of this.#followers) {
      // Newest first.
      const commits = (await this.#runsOf(follower)).map(({ commit }) => commit);
      const { name } = follower.attributes;
      if (new Set(commits).size !== commits.length) problems.push(`${name} ran a commit twice: ${commits}`);
      if (commits.some((commit, i) => commit < (commits[i + 1] ?? -1))) {
        problems.push(`${name} ran an older commit after a newer one: ${commits}`);
      }
      if (commits[0] !== this.#head) problems.push(`${name} did not run commit ${this.#head}: ${commits}`);
    }
    return problems;
  }

  end(): Promise<void> {
    return this.#forge.close();
  }
}
