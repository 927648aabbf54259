import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ApiError, Client, isFinalRun, type Resource } from '#clients/client/client.ts';
import type { CountedRule, FaultRule } from '#infra/local/host/faults.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import { runOperations } from '#run/operation.ts';
import { operate } from '#test/e2e/support/operator.ts';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { runners, send } from '#test/e2e/support/runners.ts';
import { newSharedFolder } from '#test/e2e/support/shared-folder.ts';
import type { TaskServer } from '#test/support/task-server.ts';
import { actions, likelihoods } from './actions.ts';
import { Audit } from './audit.ts';
import { Disk } from './disk.ts';
import { Environments } from './environments.ts';
import { weather } from './fault-rules.ts';
import { Model } from './model.ts';
import { bringOn } from './people.ts';
import { startRelay, takePorts } from './ports.ts';
import { Pushes } from './pushes.ts';
import { startTasks } from './run-tasks.ts';
import { Chance } from './seeded-random.ts';

import { Tally } from './tally.ts';
import { makePlaces, type Place } from './workspaces.ts';

const maxOpenRuns = 8;
const maxRunners = 4;
const weatherMs = 10_000;
/** Longer than any retry, missed heartbeat or sweep once there are no more faults. */
const quietMs = 300_000;

/** Lists contain plan-only runs only on request. */
export const runsOf = (workspaceId: string): string =>
  `/workspaces/${workspaceId}/runs?filter[operation]=${runOperations.join(',')}`;

export class Campaign {
  readonly folder: string;
  readonly ledger: string;
  readonly canaries = [1, 2, 3].map(() => `canary-${randomBytes(16).toString('hex')}`);
  readonly model = new Model();
  readonly tally = new Tally();
  readonly #platform: PlatformProcess;
  /** Undefined if the disk cannot be filled. */
  readonly #disk: Disk | undefined;
  readonly #chance: Chance;
  #client: Client;
  #tasks: TaskServer | undefined;
  #relay: { url: string; close(): void } | undefined;
  #places: Place[] = [];
  #environments: Environments | undefined;
  #pushes: Pushes | undefined;

  private constructor(platform: PlatformProcess, disk: Disk | undefined, seed: number) {
    this.#platform = platform;
    this.#disk = disk;
    this.folder = platform.dataDir;
    // Outside the data folder, so that it works while the platform's disk is full. Rooms show it to Terraform.
    const outside = newSharedFolder('ledger-');
    this.ledger = join(outside, 'ledger.txt');
    // Terraform writes into it as various users.
    for (const folder of [this.folder, outside]) chmodSync(folder, 0o711);
    writeFileSync(this.ledger, '', { flag: 'a' });
    chmodSync(this.ledger, 0o666);
    this.#chance = new Chance(seed);
    this.#client = new Client(platform.local.url, platform.local.token);
  }

  static async start(seed: number): Promise<Campaign> {
    const disk = Disk.mount();
    if (!disk) console.warn('The disk is never full in this campaign: mounting one needs root on Linux.');
    // Another program may have the default ports.
    const env = { PORT: '0', HTTPS_PORT: '0' };
    const platform = await PlatformProcess.start(env, undefined, disk?.folder);
    const campaign = new Campaign(platform, disk, seed);
    const { model, tally, client, ledger, canaries, local } = campaign;
    // Its clients read their address once.
    campaign.#relay = await startRelay(() => campaign.local.awsEndpointUrl);
    operate({ ...local, awsEndpointUrl: campaign.#relay.url });
    campaign.#tasks = await startTasks(seed, model, tally, () => campaign.local.url);
    const { organization } = local;
    const [chance, tasksUrl] = [campaign.#chance.fork(), campaign.#tasks.url];
    campaign.#places = await makePlaces({ client, organization, ledger, canaries, tasksUrl, chance });
    campaign.#environments = await Environments.start({ local: () => campaign.local, tally });
    campaign.#pushes = await Pushes.start({
      client: () => campaign.client,
      local: () => campaign.local,
      token: canaries[0] ?? '',
      tally,
    });
    return campaign;
  }

  get client(): Client {
    return this.#client;
  }

  get local() {
    return this.#platform.local;
  }

  get places(): readonly Place[] {
    return this.#places;
  }

  get environments(): Environments {
    if (!this.#environments) throw new Error('the campaign has not started');
    return this.#environments;
  }

  get pushes(): Pushes {
    if (!this.#pushes) throw new Error('the campaign has not started');
    return this.#pushes;
  }

  /** Repeats random actions. */
  async rage(ms: number): Promise<void> {
    const end = Date.now() + ms;
    let changesAt = 0;
    while (Date.now() < end) {
      const turn = this.#chance.fork();
      const [storm, pause, what] = [turn.fork(), turn.between(100, 1200), turn.weighted(likelihoods)];
      if (Date.now() > changesAt) {
        await this.putFaults(weather(storm));
        changesAt = Date.now() + weatherMs;
      }
      try {
        await actions[what](this, turn);
      } catch (error) {
        // An injected fault failed the action; any response to the client is acceptable.
        if (!(error instanceof ApiError) && !(error instanceof TypeError)) throw error;
        this.tally.note(error instanceof ApiError ? `answer ${error.status}` : 'no answer', error.message);
      }
      await sleep(pause);
    }
  }

  /** Whether this machine has as many runs as it can handle. */
  async isFull(): Promise<boolean> {
    return runners(this.folder).length >= maxRunners || (await this.openRuns()).length >= maxOpenRuns;
  }

  /** @param moves other programs take its ports before it restarts */
  async restart(name: 'SIGKILL' | 'SIGTERM', pauseMs: number, storm: Chance, moves = false): Promise<void> {
    await this.countFaults().catch(() => {});
    const { url, httpsUrl, awsEndpointUrl, environmentsUrl } = this.local;
    await this.#platform.stop(name);
    this.tally.note(
      `platform ${name === 'SIGKILL' ? 'killed' : 'stopped'}${moves ? ', and moved to other ports' : ''}`,
    );
    await sleep(pauseMs);
    // Frees space before the start.
    this.#disk?.free();
    const others = moves ? await takePorts([url, httpsUrl, awsEndpointUrl, environmentsUrl]) : undefined;
    await this.#platform.start();
    others?.release();
    this.#client = new Client(this.local.url, this.local.token);
    await this.putFaults(weather(storm));
  }

  /** Until space is freed, after the given time. */
  fillDisk(ms: number): void {
    if (!this.#disk) return;
    this.#disk.fill();
    this.tally.note('disk full', `for ${Math.round(ms)} ms`);
    setTimeout(() => this.#disk?.free(), ms).unref();
  }

  async putFaults(rules: FaultRule[]): Promise<void> {
    await this.countFaults();
    const answer = await operatorFetch(this.local, '/_faults', { method: 'PUT', body: JSON.stringify(rules) });
    if (!answer.ok) throw new Error(`fault rules: ${await answer.text()}`);
  }

  async countFaults(): Promise<void> {
    const rules = (await (await operatorFetch(this.local, '/_faults')).json()) as CountedRule[];
    for (const { kind, service, action, error, injected } of rules)
      this.tally.add(['fault', kind, service, action, error].filter(Boolean).join(' '), injected);
  }

  async openRuns(): Promise<Resource[]> {
    const runs = await Promise.all(this.places.map(({ id }) => this.#client.list(runsOf(id))));
    return runs.flat().filter((run) => !isFinalRun(run));
  }

  /**
   * Ends the faults, and resolves every wait for a user, until all runs have ended.
   * @returns violated invariants
   */
  async settle(): Promise<string[]> {
    const begun = Date.now();
    this.#disk?.free();
    await this.putFaults([]);
    for (const runner of runners(this.folder)) send(runner, 'SIGCONT');
    const audit = new Audit(this);
    let first: string | undefined;
    for (;;) {
      await bringOn(this);
      await this.pushes.bringOn();
      const unsettled = await audit.unsettled();
      if (unsettled.length === 0) break;
      if (unsettled[0] !== first) this.tally.say('waiting', unsettled.join(', '));
      first = unsettled[0];
      await this.#sweep();
      if (Date.now() - begun > quietMs) return [...unsettled, ...(await audit.findings())];
      await sleep(2000);
    }
    this.tally.say('settled', `after ${Math.round((Date.now() - begun) / 1000)} s`);
    const findings = await audit.findings();
    for (const reason of audit.reasons) this.tally.say('errored', reason);
    for (const [status, count] of audit.statuses) this.tally.add(`run ${status}`, count);
    return findings;
  }

  /** Called here, because the schedule of one minute is too slow for a campaign. */
  async #sweep(): Promise<void> {
    const endpoint = this.local.awsEndpointUrl;
    await new LambdaClient({ endpoint }).send(new InvokeCommand({ FunctionName: 'SweepFunction' }));
  }

  /** @param kept folder for the data of a campaign with findings */
  async end(kept?: string): Promise<void> {
    for (const runner of runners(this.folder)) send(runner, 'SIGKILL');
    await this.#platform.stop();
    await this.#tasks?.close();
    await this.#pushes?.end();
    this.#relay?.close();
    await this.#disk?.unmount(kept && join(kept, 'disk'));
    if (kept) return;
    for (const folder of [this.folder, dirname(this.ledger)]) rmSync(folder, { recursive: true, force: true });
  }
}
