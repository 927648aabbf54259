import { gunzipSync } from 'node:zlib';
import { packFiles } from '#clients/cli/archive.ts';
import { ApiError, until } from '#clients/client/client.ts';
import { coderAtHand } from '#test/e2e/support/coder-tools.ts';
import type { Chance } from './seeded-random.ts';
import type { Tally } from './tally.ts';

/** Environments in a campaign: users build them, schedules stop them, and a pool is claimed. */

// biome-ignore lint/suspicious/noExplicitAny: documents are looked into at any depth
type Open = any;

const plain = `
variable "start_count" { default = 1 }
resource "terraform_data" "home" { input = "kept" }
resource "terraform_data" "compute" { count = var.start_count }
`;

/** With a pool if the provider is available. */
const pooled = `
terraform {
  required_providers { coder = { source = "coder/coder", version = "~> 2.13" } }
}
data "coder_workspace" "me" {}
data "coder_parameter" "size" {
  name    = "size"
  default = "1"
}
data "coder_workspace_preset" "small" {
  name       = "small"
  parameters = { (data.coder_parameter.size.name) = "1" }
  prebuilds { instances = 1 }
}
resource "terraform_data" "home" { input = "kept" }
resource "terraform_data" "compute" { count = data.coder_workspace.me.start_count }
`;

const maxEnvironments = 6;
const importMs = 120_000;
const prebuilds = 'prebuilds';

interface Settings {
  /** The platform's current address: it restarts on other ports. */
  local(): { environmentsUrl: string; token: string; organization: string };
  tally: Tally;
}

const isBusy = ({ latest_build: build }: Open): boolean => build.job.completed_at === null;

export class Environments {
  readonly #settings: Settings;
  /** Ids that the API returned to a user, each for one of their environments. */
  readonly acknowledged: string[] = [];
  readonly #deleted = new Set<string>();
  #templateId = '';
  #presetId: string | undefined;

  private constructor(settings: Settings) {
    this.#settings = settings;
  }

  static async start(settings: Settings): Promise<Environments> {
    const made = new Environments(settings);
    await made.#push();
    return made;
  }

  async #call(method: string, path: string, body?: unknown): Promise<Open> {
    const { environmentsUrl, token } = this.#settings.local();
    const isArchive = body instanceof Uint8Array;
    const answer = await fetch(`${environmentsUrl}/api/v2${path}`, {
      method,
      headers: { 'coder-session-token': token, 'content-type': isArchive ? 'application/x-tar' : 'application/json' },
      body: isArchive ? (body as RequestInit['body']) : body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new ApiError(method, path, answer.status, text);
    return text ? JSON.parse(text) : undefined;
  }

  async #push(): Promise<void> {
    const { organization } = this.#settings.local();
    const files = { 'main.tf': coderAtHand() ? pooled : plain };
    const { hash } = await this.#call('POST', '/files', gunzipSync(await packFiles(files)));
    const posted = { name: 'v1', storage_method: 'file', file_id: hash, provisioner: 'terraform' };
    const { id } = await this.#call('POST', `/organizations/${organization}/templateversions`, posted);
    const read = () => this.#call('GET', `/templateversions/${id}`);
    const version = await until(read, ({ job }) => job.completed_at !== null, importMs);
    if (version.job.error) throw new Error(`template: ${version.job.error}`);
    const template = { name: 'chaos', template_version_id: id };
    this.#templateId = (await this.#call('POST', `/organizations/${organization}/templates`, template)).id;
    const presets = (await this.#call('GET', `/templateversions/${id}/presets`)) ?? [];
    this.#presetId = presets[0]?.ID;
  }

  async #all(): Promise<Open[]> {
    return (await this.#call('GET', '/workspaces')).workspaces;
  }

  async #owned(): Promise<Open[]> {
    return (await this.#all()).filter(({ owner_name: owner }) => owner !== prebuilds);
  }

  /** Every other time from the pool; a schedule stops it a minute after its start. */
  async create(chance: Chance): Promise<void> {
    const [name, claims] = [`env-${chance.integer(10)}`, chance.integer(2) === 0];
    if ((await this.#owned()).length >= maxEnvironments) return;
    const preset = claims && this.#presetId ? { template_version_preset_id: this.#presetId } : {};
    const body = { template_id: this.#templateId, name, ttl_ms: 60_000, ...preset };
    const { id, latest_build: build } = await this.#call('POST', '/users/me/workspaces', body);
    this.acknowledged.push(id);
    this.#settings.tally.note(build.build_number > 1 ? 'prebuild claimed' : 'environment created', id);
  }

  async build(chance: Chance): Promise<void> {
    const choice = chance.fork();
    const transition = chance.weighted({ start: 4, stop: 4, delete: 1 });
    const one = choice.one(await this.#owned());
    if (!one) return;
    // Two requests at once: the platform rejects one of them.
    const posts = [1, 2].map(() => this.#call('POST', `/workspaces/${one.id}/builds`, { transition }));
    const ended = await Promise.allSettled(posts);
    const accepted = ended.filter(({ status }) => status === 'fulfilled').length;
    if (transition === 'delete') this.#deleted.add(one.id);
    this.#settings.tally.note(accepted ? `build ${transition}` : 'build refused', one.id);
  }

  async cancel(chance: Chance): Promise<void> {
    const choice = chance.fork();
    const one = choice.one((await this.#all()).filter(isBusy));
    if (!one) return;
    await this.#call('PATCH', `/workspacebuilds/${one.latest_build.id}/cancel`);
    this.#settings.tally.note('build canceled', one.id);
  }

  /** Unfinished builds, and environments that their schedule should have stopped. */
  async unsettled(): Promise<string[]> {
    return (await this.#all()).flatMap((one) => {
      const { status, deadline } = one.latest_build;
      if (isBusy(one)) return [`environment ${one.name} is ${status}`];
      const isLate = status === 'running' && deadline && Date.parse(deadline) < Date.now();
      return isLate ? [`environment ${one.name} runs after ${deadline}`] : [];
    });
  }

  async findings(): Promise<string[]> {
    const all = await this.#all();
    const names = all.map(({ owner_name: owner, name }) => `${owner}/${name}`.toLowerCase());
    const problems = names.filter((name, n) => names.indexOf(name) !== n).map((name) => `${name} is there twice`);
    const present = new Set(all.map(({ id }) => id));
    this.acknowledged.forEach((id, n) => {
      if (this.acknowledged.indexOf(id) !== n) problems.push(`environment ${id} was given to two people`);
      if (!present.has(id) && !this.#deleted.has(id)) problems.push(`environment ${id} was made, and is not there`);
    });
    for (const id of new Set([...present, ...this.acknowledged])) problems.push(...(await this.#builds(id)));
    return problems;
  }

  /** Builds are numbered without gaps, and the environment's status matches the last one. */
  async #builds(id: string): Promise<string[]> {
    const path = `/workspaces/${id}/builds?include_deleted=true`;
    const builds = ((await this.#call('GET', path)) as Open[]).reverse();
    this.#settings.tally.add('builds of environments', builds.length);
    const problems: string[] = [];
    builds.forEach(({ build_number: number, created_at: createdAt }, n) => {
      if (number !== n + 1) problems.push(`environment ${id}: build ${n + 1} is missing`);
      const before = builds[n - 1]?.job.completed_at;
      if (before && createdAt < before) problems.push(`environment ${id}: build ${number} began during the one before`);
    });
    const last = builds.at(-1);
    const hasCompute = last?.resources.some(({ name }: { name: string }) => name === 'compute');
    if (last?.status === 'running' && !hasCompute) problems.push(`environment ${id} runs, and has no computer`);
    if (last?.status === 'stopped' && hasCompute) problems.push(`environment ${id} is stopped, and has a computer`);
    return problems;
  }
}
