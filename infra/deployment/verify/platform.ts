import { ECSClient, ListTasksCommand, StopTaskCommand } from '@aws-sdk/client-ecs';
import { packFiles } from '#clients/cli/archive.ts';
import { userAgent } from '#clients/cli/program.ts';
import { ApiError, Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import { followLog } from '#clients/client/log.ts';
import { until } from './check.ts';
import type { Listener } from './listener.ts';
import { probes } from './probes.ts';
import { invoke, type Target } from './target.ts';

/** Names of organizations, and of tables of a restore drill, that verify creates. */
export const prefix = 'stepform-verify-';

/** A container's start, phases and queue: nothing takes longer unless it is stuck. */
const runSeconds = 300;

export interface StartedRun {
  workspace: Resource;
  run: Resource;
}

/**
 * A deployment with a throw-away organization, whose owner's token exists only in this process. Uses the public API, and
 * AWS's with the deployer's credentials.
 */
export class Platform {
  readonly target: Target;
  readonly listener: Listener | undefined;
  readonly organization: string;
  #client: Client | undefined;
  #token = '';
  #names = 0;
  readonly #removals: (() => Promise<unknown>)[] = [];

  constructor(target: Target, listener?: Listener, organization = `${prefix}${Date.now().toString(36)}`) {
    this.target = target;
    this.listener = listener;
    this.organization = organization;
  }

  /** @throws {Error} without an organization */
  get client(): Client {
    if (!this.#client) throw new Error('there is no organization');
    return this.#client;
  }

  get token(): string {
    return this.#token;
  }

  /** Creates the organization, or signs in to it again, as an operator would (README). */
  async signIn(): Promise<void> {
    const { apiUrl, bootstrapFunction } = this.target;
    const event = { organization: this.organization, email: 'verify@example.com', rotate: true };
    const { secret } = await invoke<{ secret: string }>(this.target, bootstrapFunction, event);
    const body = new URLSearchParams({ grant_type: 'urn:stepform:one-time-secret', secret });
    const response = await fetch(`${apiUrl}/oauth/token`, { method: 'POST', body });
    const text = await response.text();
    if (!response.ok) throw new Error(`signing in: ${response.status} ${text.slice(0, 200)}`);
    this.#token = (JSON.parse(text) as { access_token: string }).access_token;
    this.#client = new Client(apiUrl, this.#token, userAgent());
  }

  newWorkspace(purpose: string, attributes: Record<string, unknown> = {}): Promise<Resource> {
    this.#names += 1;
    return this.client.createWorkspace(this.organization, `${purpose}-${this.#names}`, attributes);
  }

  /** Uploads files and creates a run with them. */
  async start(
    workspace: Resource,
    files: Record<string, string>,
    attributes: Record<string, unknown> = {},
  ): Promise<StartedRun> {
    const version = await this.client.upload(workspace.id, await packFiles(files));
    return { workspace, run: await this.client.createRun(workspace.id, attributes, version.id) };
  }

  /** Waits for a condition, or the end of the run. @throws {Error} that names run and status */
  async run({ id }: Resource, done: (run: Resource) => boolean, limitSeconds = runSeconds): Promise<Resource> {
    const read = () => this.client.run(id);
    return until(id, read, (now) => done(now) || isFinalRun(now), limitSeconds).catch(async (error: Error) => {
      const { status } = (await read()).attributes;
      throw new Error(`${error.message}; it is ${status}`, { cause: error });
    });
  }

  /** @throws {Error} with the platform's reason, if it ends with another status */
  async ended(run: Resource, status: string): Promise<Resource> {
    const final = await this.run(run, () => false);
    if (final.attributes.status === status) return final;
    const reason = final.attributes['end-reason'] ?? '';
    throw new Error(`${run.id} ended as ${final.attributes.status}, not ${status}. ${reason}`.trim());
  }

  async log(run: Resource, phase: 'plan' | 'apply'): Promise<string> {
    const url = (await this.client.phase(run, phase)).attributes['log-read-url'];
    let text = '';
    for await (const more of followLog(url, async () => isFinalRun(await this.client.run(run.id)))) text += more;
    return text;
  }

  /** ARNs of the run's containers that ECS lists, including stopped ones. */
  async containers(runId: string): Promise<string[]> {
    const { cluster } = this.target;
    const ecs = new ECSClient({});
    const lists = await Promise.all(
      (['RUNNING', 'STOPPED'] as const).map((desiredStatus) =>
        ecs.send(new ListTasksCommand({ cluster, startedBy: runId, desiredStatus })),
      ),
    );
    return lists.flatMap(({ taskArns = [] }) => taskArns);
  }

  stopContainer(task: string): Promise<unknown> {
    const { cluster } = this.target;
    return new ECSClient({}).send(new StopTaskCommand({ cluster, task, reason: 'stepform verify' }));
  }

  /** ARN of the run's execution, which has the run's id as its name. */
  executionArn(runId: string): string {
    return `${this.target.stateMachineArn.replace(':stateMachine:', ':execution:')}:${runId}`;
  }

  /** Something outside the organization to remove at the end, also after an interruption. */
  onRemoval(remove: () => Promise<unknown>): void {
    this.#removals.push(remove);
  }

  #applied: Promise<StartedRun> | undefined;
  /** One auto-applied run of two resources, for several checks. */
  applied(): Promise<StartedRun> {
    this.#applied ??= (async () => {
      const workspace = await this.newWorkspace('run', { 'auto-apply': true });
      const main = 'resource "terraform_data" "a" {}\nresource "terraform_data" "b" {}\n';
      const { run } = await this.start(workspace, { 'main.tf': main });
      return { workspace, run: await this.ended(run, 'applied') };
    })();
    return this.#applied;
  }

  #probed: ReturnType<typeof probes> | undefined;
  /** One run that reports what it finds inside, for several checks. */
  probed(): ReturnType<typeof probes> {
    this.#probed ??= probes(this);
    return this.#probed;
  }

  /**
   * Removes everything that was created. The owner's tokens are revoked even if the rest fails; the sweep purges the
   * content of the organization.
   */
  async remove(): Promise<void> {
    const outside = Promise.allSettled(this.#removals.splice(0).map((remove) => remove()));
    try {
      if (this.#client) await this.#removeOrganization();
    } finally {
      if (this.#client) await this.#revokeTokens();
    }
    const refused = (await outside).find(({ status }) => status === 'rejected');
    if (refused) throw (refused as PromiseRejectedResult).reason;
  }

  async #removeOrganization(): Promise<void> {
    const { client, organization } = this;
    const { data: workspaces } = await client.some(`/organizations/${organization}/workspaces`, 1000);
    const lists = await Promise.all(workspaces.map(({ id }) => client.some(`/workspaces/${id}/runs`, 100)));
    const open = lists.flatMap(({ data }) => data).filter((run) => !isFinalRun(run));
    // A workspace that was deleted before its organization is purged with the content of its runs and states. Workspaces
    // of environments are refused; they are deleted with the organization.
    for (const { id } of workspaces) {
      await client.call('DELETE', `/workspaces/${id}`).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 409)) throw error;
      });
    }
    await client.call('DELETE', `/organizations/${organization}`);
    for (const { id } of open) for (const arn of await this.containers(id)) await this.stopContainer(arn);
  }

  /** The token of this process is the last one. */
  async #revokeTokens(): Promise<void> {
    const { client } = this;
    const { id: user } = await client.get('/account/details');
    const tokens = await client.list(`/users/${user}/authentication-tokens`);
    for (const { id } of tokens) {
      await client.call('DELETE', `/authentication-tokens/${id}`).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 401)) throw error;
      });
    }
    const works = await client.get('/account/details').then(
      () => true,
      (error: unknown) => !(error instanceof ApiError && error.status === 401),
    );
    if (works) throw new Error("the owner's token still works");
    this.#client = undefined;
  }
}
